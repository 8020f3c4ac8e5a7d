"""Accounts by name: one name in any case and normal form, kept apart by the database (``AccountName``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef

from beadbox.names import name_key, name_search
from games.models import AccountName
from games.validators import name_validate

NAME_TAKEN = "This name is taken. Choose another name."
BATCH_SIZE = 1_000
"""Accounts whose names are folded in one transaction."""


def account_named(name: str) -> Any:
    """The account with this name: the one spelled so, else the one with the same key; ``None`` if there is none."""
    accounts = get_user_model().objects
    by_key = accounts.filter(account_name__key=name_key(name), account_name__is_duplicate=False)
    return accounts.filter(username=name).first() or by_key.first()


def log_in_name(name: str) -> str:
    """One form for all spellings of a name, as axes counts log-ins by it: its columns take 255 characters."""
    return name_key(name)[:255]


class AnySpellingBackend(ModelBackend):
    """Django's log-in, with the name in any case and normal form."""

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> Any:
        """The account of the name, if the password is right.

        Raises:
            PermissionDenied: it is not. Django's own backend, which sessions name, would compare it a second time.
        """
        if username is None or password is None:
            return None
        account = account_named(username)
        spelled = username if account is None else account.get_username()
        user = super().authenticate(request, username=spelled, password=password, **kwargs)
        if user is None:
            raise PermissionDenied
        return user


def account_name_require(name: str, account: Any) -> AccountName | None:
    """Refuse a new name of an account that cannot be shown or that another account has.

    Returns:
        What is stored of the name that the account had before.

    Raises:
        ValidationError.
    """
    key = name_key(name)
    known = None if account.pk is None else AccountName.objects.filter(account=account).first()
    if known is None or known.key != key:
        name_validate(name)
        if AccountName.objects.filter(key=key).exclude(account=account.pk).exists():
            raise ValidationError(NAME_TAKEN, code="unique")
    return known


class NameForm:
    """A form with the name of an account."""

    def clean_username(self) -> Any:
        """The name, if no other account has it in any case or normal form."""
        form: Any = self
        django_s = getattr(super(), "clean_username", None)
        name = form.cleaned_data["username"] if django_s is None else django_s()
        if name:  # Django's own answers None for a name that it has refused already
            account_name_require(name, form.instance)
        return name


def name_before_save(instance: Any, raw: bool, update_fields: Any = None, **_: Any) -> None:
    """Check the name of an account that is about to be stored; of one that is renamed, store the folded forms first."""
    if raw or (update_fields is not None and "username" not in update_fields):
        return
    try:
        known = account_name_require(instance.username, instance)
    except ValidationError as error:
        raise ValidationError({"username": error.error_list}) from None
    if known is not None and known.key != name_key(instance.username):
        with transaction.atomic():
            AccountName.objects.filter(account=instance).update(is_duplicate=False, **_forms(instance.username))
            _vacant_take(AccountName)


def name_after_save(instance: Any, created: bool, raw: bool, **_: Any) -> None:
    """Store the folded forms of a new account's name.

    Raises:
        IntegrityError: another account took the name at the same moment. The new one is not kept.
    """
    if not created or raw:
        return
    try:
        with transaction.atomic():
            AccountName.objects.create(account=instance, **_forms(instance.username))
    except IntegrityError:
        if not connection.in_atomic_block:
            instance.delete()
        raise


def account_names_fill(accounts: Any, names: Any) -> None:
    """Store the folded names of accounts that have no right ones, the oldest first.

    The later of two accounts with one key is marked as a duplicate.

    Args:
        accounts, names: the models; a migration has its own.
    """
    known = names.objects.values_list("pk", "key", "account__username")
    names.objects.filter(pk__in=[pk for pk, key, username in known.iterator() if key != name_key(username)]).delete()
    without = accounts.objects.filter(account_name=None).order_by("pk").values_list("pk", "username")
    while batch := list(without[:BATCH_SIZE]):
        forms = {pk: _forms(username) for pk, username in batch}
        keys = [one["key"] for one in forms.values()]
        held = set(names.objects.filter(key__in=keys, is_duplicate=False).values_list("key", flat=True))
        rows = []
        for pk, folded in forms.items():
            rows.append(names(account_id=pk, is_duplicate=folded["key"] in held, **folded))
            held.add(folded["key"])
        with contextlib.suppress(IntegrityError), transaction.atomic():  # a new account was faster: look again
            names.objects.bulk_create(rows)
    _vacant_take(names)


def account_names_shared(names: Any) -> Iterator[str]:
    """A sentence for each account whose name another one has in another case or normal form."""
    for later in names.objects.filter(is_duplicate=True).select_related("account").order_by("key", "pk"):
        first = names.objects.select_related("account").get(key=later.key, is_duplicate=False).account
        yield (
            f"The accounts {first.username!r} (id {first.pk}) and {later.account.username!r} (id {later.pk}) have one"
            " name in different spellings. Each logs in by its exact spelling. Rename one of them in the admin."
        )


def _forms(username: str) -> dict[str, str]:
    return {"key": name_key(username), "search": name_search(username)}


def _vacant_take(names: Any) -> None:
    """Let the oldest duplicate of a key have it, where nobody has it any more."""
    holders = names.objects.filter(key=OuterRef("key"), is_duplicate=False)
    vacant = names.objects.filter(~Exists(holders), is_duplicate=True).order_by("key", "pk").distinct("key")
    names.objects.filter(pk__in=[one.pk for one in vacant]).update(is_duplicate=False)
