"""Accounts in the admin: a quick search, and a page that closes an account together with its current work."""

from __future__ import annotations

from typing import Any, cast

import axes.utils
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from games.accounts.account_names import NameForm, log_in_name_key
from games.accounts.emails import send_address_changed, send_password_changed
from games.accounts.throttles import AddressThrottle
from games.admin.base import CappedListAdmin, ChoiceFilter, Finder, LargeTableAdmin, NameSearch, ReadOnly, log_each
from learning.exceptions import AccountNotClosedError
from learning.models import Machine
from learning.services.accounts import account_close, is_above, needs_closing

SUPERUSER_FIELDS = ("is_staff", "is_superuser", "groups", "user_permissions")
"""Fields that only superusers change: other staff could otherwise extend their own rights."""


class PasswordForm(AdminPasswordChangeForm):
    """Set another account's password, notify its owner and reset the lock-outs of the account."""

    def save(self, commit: bool = True) -> User:
        """Save only the password, forget failed log-ins and send the e-mail."""
        user: User = super().save(commit=False)
        if commit:
            user.save(update_fields=["password"])  # other fields may have changed since they were read
        for counter in ("failures", "log-ins"):
            AddressThrottle("account", str(user.pk), counter).forget(None)
        axes.utils.reset(username=log_in_name_key(user.get_username()))
        send_password_changed(user)
        return user


class CloseForm(forms.Form):
    """Confirmation of closing an account, and the choice of what happens to its machines."""

    machines = forms.ChoiceField(
        label="Its machines",
        widget=forms.RadioSelect,
        choices=[
            ("house", "Give them to the site"),
            ("heir", "Give them to the account below"),
            ("delete", "Delete them"),
        ],
        initial="house",
    )
    heir = forms.ModelChoiceField(
        queryset=User.objects.filter(is_active=True),
        required=False,
        widget=Finder(Machine._meta.get_field("owner"), "An account"),
        label="The other account",
    )
    name = forms.CharField(label="Type its name to confirm", help_text="This prevents closing the wrong account.")

    def __init__(self, *args: Any, username: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.username = username

    def clean_name(self) -> str:
        """Return the typed name if it equals the account's name exactly."""
        name: str = self.cleaned_data["name"]
        if name != self.username:
            raise forms.ValidationError(f"The account is called {self.username}.")
        return name

    def clean(self) -> dict[str, object]:
        """Require an heir if the machines go to another account."""
        data = super().clean() or self.cleaned_data
        if data.get("machines") == "heir" and not self.errors and data.get("heir") is None:
            self.add_error("heir", "Choose the account that gets them.")
        return data


class NewAccountForm(NameForm, AdminUserCreationForm):
    """Django's form for a new account; names are compared in any case and Unicode normal form."""


class AccountForm(NameForm, UserChangeForm):
    """Django's form for an account; names are compared in any case and Unicode normal form."""


admin.site.unregister([User, Group])


class SharedNameFilter(ChoiceFilter):
    """Filter for accounts with another spelling of an earlier account's name."""

    title = "shared name"
    parameter_name = field = "account_name__is_duplicate"

    def valid_values(self) -> list[tuple[str, str]]:
        """Return the only choice: accounts with a shared name."""
        return [("1", "of an earlier account")]


@admin.register(User)
class AccountAdmin(NameSearch, UserAdmin, CappedListAdmin):
    """Accounts. They are closed and never deleted, because matches and lessons refer to them.

    Only superusers change accounts of the staff.
    """

    form, add_form, change_password_form = AccountForm, NewAccountForm, PasswordForm
    ordering = ("-pk",)
    list_display = ("username", "email", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser", SharedNameFilter)
    list_per_page = 50
    search_fields = ("username", "account_name__search__contains", "first_name", "last_name", "email")

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Return the fields of :data:`SUPERUSER_FIELDS`, which are read-only except for superusers."""
        return () if getattr(request.user, "is_superuser", False) else SUPERUSER_FIELDS

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the viewer has the permission and the account is not above them (:func:`is_above`).

        The pages for the password and for closing ask for the same permission.
        """
        return super().has_change_permission(request, obj) and (
            obj is None or not is_above(cast("User", request.user), obj)
        )

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Deny: deletion would leave machines without an owner and their training still running."""
        return False

    def save_model(self, request: HttpRequest, obj: User, form: UserChangeForm, change: bool) -> None:
        """Save the account; notify its owner of a changed e-mail address after the commit."""
        super().save_model(request, obj, form, change)
        if change and "email" in form.changed_data:
            transaction.on_commit(lambda: send_address_changed(obj, form.initial["email"]))

    def get_urls(self) -> list[URLPattern]:
        """Add the page that closes an account."""
        page = self.admin_site.admin_view(self.close_view)
        return [path("<int:account_id>/close/", page, name="auth_user_close"), *super().get_urls()]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Render the page of an account, with a link to close it while there is something to end."""
        account = context["original"]
        context["is_left"] = account is not None and needs_closing(account)
        return super().render_change_form(request, context, *args, **kwargs)

    def close_view(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Ask what happens to the machines, then close the account."""
        account = get_object_or_404(User, pk=account_id)
        if not self.has_change_permission(request, account):
            raise PermissionDenied
        form = CloseForm(request.POST or None, username=account.get_username())
        if request.method == "POST" and form.is_valid():
            data = form.cleaned_data
            heir = data["heir"] if data["machines"] == "heir" else None
            try:
                closed = account_close(
                    staff=cast("User", request.user),
                    account=account,
                    heir=heir,
                    deletes_machines=data["machines"] == "delete",
                )
            except AccountNotClosedError as error:
                form.add_error(None, str(error))
            else:
                counts = ", ".join(f"{name} {getattr(closed, name)}" for name in closed.__slots__)
                destination = {"house": "to the house", "heir": f"to {heir}", "delete": "deleted"}[data["machines"]]
                log_each(request, [account], f"Closed; machines {destination}. Ended or handed on: {counts}.")
                messages.success(request, f"The account {account} is closed. Ended or given away: {counts}.")
                return redirect("admin:auth_user_change", account.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Close {account}",
            "opts": User._meta,
            "original": account,
            "form": form,
            "media": form.media,
            "n_machines": Machine.objects.filter(owner=account, room__isnull=True).count(),
            "back": reverse("admin:auth_user_change", args=[account.pk]),
        }
        return TemplateResponse(request, "admin/auth/user/close.html", context)


@admin.register(Group)
class GroupPermissionsAdmin(GroupAdmin, CappedListAdmin):
    """Groups and their permissions. Only superusers change them."""

    def has_add_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether the viewer is a superuser, because other staff could extend the rights of their own group."""
        return bool(getattr(request.user, "is_superuser", False))

    has_change_permission = has_delete_permission = has_add_permission


@admin.register(LogEntry)
class LogAdmin(NameSearch, ReadOnly, LargeTableAdmin):
    """Django's log of changes made in the admin."""

    list_display = ("action_time", "user", "content_type", "object_repr", "action_flag", "change_message")
    list_filter = ("action_flag",)
    list_select_related = ("user", "content_type")
    search_fields = ("object_repr__startswith", "user__account_name__search__startswith")
