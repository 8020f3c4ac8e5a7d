"""Pages of accounts: sign up, log in, passwords, tokens."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import unicodedata
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.decorators import user_passes_test
from django.contrib.auth.forms import PasswordResetForm, UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import (
    LoginView,
    LogoutView,
    PasswordChangeDoneView,
    PasswordChangeView,
    PasswordResetConfirmView,
    PasswordResetView,
)
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.forms import Field
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from beadbox.names import name_key
from games.accounts.account_names import NAME_TAKEN, NameForm
from games.accounts.authentication import GUEST_KEY
from games.accounts.claims import WAITING_KEY, Claimed, ClaimSeats, codes_waiting_of
from games.accounts.emails import password_told
from games.accounts.forms import LogInForm, TokenForm, refusal_add
from games.accounts.identity import person_of_request
from games.accounts.throttles import AddressThrottle
from games.accounts.tokens import token_list_of, token_make, token_revoke
from games.exceptions import (
    AccountClosedError,
    PlayError,
    SiteFullError,
)
from games.limits.quotas import account_lock, site_require
from games.transport.error_responses import form_only, sent_back, too_many

NAMES_TOLD = 5
"""So many names of machines a message tells one by one."""

RESERVED_NAMES = ("guest", "menace", "beadbox", "admin", "staff")


def account_required(purpose: str, without: str, test: Callable[[Any], bool] | None = None) -> Callable[..., Any]:
    """A page for accounts alone, or for whoever passes the ``test``; others come to the page to log in.

    Args:
        purpose: a sentence of that page: what an account is needed for.
        without: the next sentence: what can be done without an account.
        test: asked of the user, who may be a visitor.
    """

    def of(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        guarded: Any = user_passes_test(test or (lambda user: user.is_authenticated))(view)
        guarded.needs_account = {"purpose": purpose, "without": without}
        return guarded  # type: ignore[no-any-return]

    return of


def purpose_of(address: str) -> dict[str, str]:
    """The purpose of an account at an address of the site (:func:`account_required`); empty where none is needed."""
    try:
        view = resolve(urlsplit(address).path).func
    except Resolver404:
        return {}
    return getattr(view, "needs_account", {})


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: Any) -> HttpResponse:
    """The page for who may not log in by a name for a while; who tries meanwhile does not wait for longer."""
    wait_s: float = getattr(request, "locked_for_s", 0) or settings.AXES_COOLOFF_TIME * 3600
    return too_many(request, wait_s, "registration/locked.html")


def counting(what: str, *, successes: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A form that an address may fill in rightly (or wrongly, not ``successes``) no more often than the rate says.

    What comes out the other way costs nothing.
    """

    def of(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @functools.wraps(view)
        def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            throttle = AddressThrottle("guess", counted=what)
            if throttle.is_used_up(request):
                return too_many(request, throttle.wait())
            response = view(request, *args, **kwargs)
            if (response.status_code == 302) is successes:
                throttle.allow_request(request)
            return response

        return counted

    return of


# Wrong passwords over many names; axes counts those for one.
log_in_counted = counting("login", successes=False)


def _word_again(field: Field, label: str) -> None:
    """Name the field in which a new password is typed a second time, in plain words."""
    field.label, field.help_text = label, "Type the same password again."


class SignUpForm(NameForm, UserCreationForm):
    """A name, a password twice and, for those who may forget it, an e-mail address."""

    class Meta(UserCreationForm.Meta):
        model = get_user_model()
        fields = ("username", "email")
        help_texts = {
            "username": "Use letters, digits and @ . + - _. It can have 150 characters at most.",
            "email": "Optional. We use it only to reset a forgotten password.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _word_again(self.fields["password2"], "Password again")

    def clean_username(self) -> str:
        """A name that no other account has in any spelling, and that no machine or guest is called."""
        username: str = super().clean_username()
        if name_key(username or "").startswith(RESERVED_NAMES):
            raise ValidationError("This name is reserved for the site. Choose another name.", code="reserved")
        return username


def _enter(request: HttpRequest, user: User, claim: ClaimSeats) -> None:
    """Log in; a guest's matches and machines follow them into the account, or all stays as it was.

    What the account has no room for stays the guest's, whose number the session keeps. Call inside a transaction.
    """
    guest = person_of_request(request).guest
    claimed = Claimed([], [])
    if guest is not None:
        claimed = claim(user_id=user.pk, name=user.get_username(), guest=guest)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.pop(GUEST_KEY, None)
    if guest is not None and claimed.left:
        request.session[GUEST_KEY] = guest.hex
    request.session.save()  # with the rest, and not with the answer
    if claimed.taken:
        messages.success(request, f"These are now in your account: {_some(claimed.taken)}.")
    if claimed.left:
        messages.warning(
            request,
            f"Your account has no room for these: {_some(claimed.left)}. They stay in this browser."
            " To move them, delete machines of your account, then log out and log in again.",
        )


def _some(names: list[str]) -> str:
    """The first few of these names, and how many more there are."""
    shown = ", ".join(names[:NAMES_TOLD])
    return shown if len(names) <= NAMES_TOLD else f"{shown} and {len(names) - NAMES_TOLD} more"


@method_decorator(counting("signup", successes=True), name="dispatch")
class SignUpView(FormView):
    """Make an account; matches and machines of this session come along."""

    claim: ClaimSeats = cast("ClaimSeats", None)  # games/urls.py says which

    template_name = "registration/signup.html"
    form_class = SignUpForm
    success_url = reverse_lazy("account")

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        """Store the account, take the guest's matches and machines over, log in: all of it or nothing."""
        try:
            site_require("auth_user")
        except SiteFullError as error:
            refusal_add(form, error)
            return self.form_invalid(form)
        with transaction.atomic():
            try:
                with transaction.atomic():
                    user = form.save()
            except IntegrityError:  # another sign-up took the name at the same moment
                form.add_error("username", NAME_TAKEN)
                return self.form_invalid(form)
            _enter(self.request, user, self.claim)
        return HttpResponseRedirect(self.get_success_url())


@method_decorator(log_in_counted, name="dispatch")
class LogInView(LoginView):
    """Log in; matches and machines of this session come along."""

    claim: ClaimSeats = cast("ClaimSeats", None)  # games/urls.py says which

    form_class = LogInForm
    redirect_authenticated_user = True

    def get_context_data(self, **context: Any) -> dict[str, object]:
        """The page, with the reason why an account is needed if another page led here."""
        return super().get_context_data(**context, **purpose_of(self.get_redirect_url()))

    def form_valid(self, form: Any) -> HttpResponse:
        """Take the guest's matches and machines over and log in: both or neither."""
        try:
            with transaction.atomic():
                _enter(self.request, form.get_user(), self.claim)
        except AccountClosedError as error:  # since the password was compared
            refusal_add(form, error)
            return self.form_invalid(form)
        return HttpResponseRedirect(self.get_success_url())


@method_decorator(form_only("lobby"), name="dispatch")
class LogOutView(LogoutView):
    """Log out; what the account had no room for is still this browser's."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log out, and keep the guest number that a log-in has left, and where the account waits for somebody."""
        guest = request.session.get(GUEST_KEY)
        waiting = codes_waiting_of(request.user.pk) if request.user.is_authenticated else []
        response = super().post(request, *args, **kwargs)
        if guest is not None:
            request.session[GUEST_KEY] = guest
        if waiting:
            request.session[WAITING_KEY] = waiting
        return response


class ResetForm(PasswordResetForm):
    """Django's. The case of the domain is folded here: a database without a locale folds ASCII alone."""

    def clean_email(self) -> str:
        """The address as accounts have it."""
        return get_user_model().objects.normalize_email(self.cleaned_data["email"])


class ResetPasswordView(PasswordResetView):
    """Send a letter with a way to a new password: so many an hour for an address, and to one mailbox."""

    form_class = ResetForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Ask for nothing where no letter would come, and say what helps."""
        if not settings.SENDS_LETTERS:
            return render(request, "registration/no_letters.html")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Send it, unless too many were asked for; whether there is such an account, nobody is told.

        Its link begins with ``SITE_URL``. Without it, which a site that sends letters needs, with the request's host.
        """
        mailbox = unicodedata.normalize("NFKC", form.cleaned_data["email"]).casefold()
        name = hashlib.sha256(mailbox.encode()).hexdigest()
        for throttle in (AddressThrottle("guess", counted="reset"), AddressThrottle("mailbox", name)):
            if not throttle.allow_request(self.request):
                return too_many(self.request, throttle.wait())
        if settings.SITE_URL:
            protocol, _, domain = settings.SITE_URL.partition("://")
            self.extra_email_context = {"protocol": protocol, "domain": domain}
        return super().form_valid(form)


class TellsOfNewPassword:
    """A page that changes a password, of which the owner hears: it may have been somebody else."""

    def get_form(self, *args: Any) -> Any:
        """The form, with the second field named as on the page of a new account."""
        form = super().get_form(*args)  # type: ignore[misc]  # what it is mixed into has it
        _word_again(form.fields["new_password2"], "New password again")
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and send the letter; nothing of an account that is closed, a moment ago perhaps."""
        try:
            with transaction.atomic():
                account_lock(form.user)
                form.user.refresh_from_db()  # all of it is written
                response: HttpResponse = super().form_valid(form)  # type: ignore[misc]  # what it is mixed into has it
        except AccountClosedError as error:
            refusal_add(form, error)
            return self.form_invalid(form)  # type: ignore[attr-defined,no-any-return]
        password_told(form.user)
        return response


PASSWORD = account_required("Log in to change your password.", "Forgot it? You can get a new one below.")

password_change_done = PASSWORD(PasswordChangeDoneView.as_view())


@method_decorator(PASSWORD, name="dispatch")
class ChangePasswordView(TellsOfNewPassword, PasswordChangeView):
    """Change the password of the account that is logged in."""


class NewPasswordView(TellsOfNewPassword, PasswordResetConfirmView):
    """Choose a password by the letter that was asked for, which logs in too, also where others tried it too often."""

    claim: ClaimSeats = cast("ClaimSeats", None)  # games/urls.py says which

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and log in: from then on the account is known at this address."""
        response = super().form_valid(form)
        if not form.errors:
            with contextlib.suppress(AccountClosedError), transaction.atomic():  # since it was changed
                _enter(self.request, form.user, self.claim)
        return response


@account_required("Log in to make tokens, the keys for your programs.", "Programs can play in rooms without a token.")
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """The tokens of an account, and a new one, whose text is on the answer to the form and nowhere else."""
    form, made = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        try:
            _, made = token_make(user=cast("User", request.user), **form.cleaned_data)
            form = TokenForm()
        except PlayError as error:
            refusal_add(form, error)
    status = 400 if form.errors else 200
    context = {"form": form, "made": made, "tokens": token_list_of(cast("User", request.user))}
    return render(request, "games/tokens.html", context, status=status)


@form_only("tokens")
@account_required("Log in to revoke a token.", "Programs can play in rooms without a token.")
def token_end(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    try:
        token_revoke(user=cast("User", request.user), token_id=token_id)
    except PlayError as error:
        return sent_back(request, error, to="tokens")
    messages.success(request, "The token no longer works.")
    return redirect("tokens")
