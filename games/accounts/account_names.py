"""Accounts by name. Spellings in another case or normal form are the same name (``AccountName``)."""

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
ACCOUNTS_PER_BATCH = 1_000
"""Number of accounts in one transaction of :func:`account_names_fill`."""


def account_named(name: str) -> Any:
    """Return the account with this exact name, else the one with the same key; ``None`` if there is none."""
    accounts = get_user_model().objects
    by_key = accounts.filter(account_name__key=name_key(name), account_name__is_duplicate=False)
    return accounts.filter(username=name).first() or by_key.first()


def log_in_name(name: str) -> str:
    """Return the one form of all spellings of a name by which axes counts log-ins. Its columns hold 255 characters."""
    return name_key(name)[:255]


class AnySpellingBackend(ModelBackend):
    """Django's log-in, which accepts the name in any case and normal form."""

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> Any:
        """Return the account of the name if the password is right; ``None`` without a name or a password.

        Raises:
            PermissionDenied: the password is wrong. Without the error, Django's own backend, which sessions name, would
                compare the password a second time.
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
    """Refuse a new account name that cannot be shown or that another account has.

    Returns:
        The stored row of the account's previous name; ``None`` if there is none.

    Raises:
        ValidationError: the name is refused.
    """
    key = name_key(name)
    known = None if account.pk is None else AccountName.objects.filter(account=account).first()
    if known is None or known.key != key:
        name_validate(name)
        if AccountName.objects.filter(key=key).exclude(account=account.pk).exists():
            raise ValidationError(NAME_TAKEN, code="unique")
    return known


class NameForm:
    """A form with an account name, unique in every spelling."""

    def clean_username(self) -> Any:
        """Return the name if no other account has it in any case or normal form."""
        form: Any = self
        django_s = getattr(super(), "clean_username", None)
        name = form.cleaned_data["username"] if django_s is None else django_s()
        if name:  # Django returns None for a name that it has already refused
            account_name_require(name, form.instance)
        return name


def name_before_save(instance: Any, raw: bool, update_fields: Any = None, **_: Any) -> None:
    """Check the name of an account before it is saved. For a renamed account, store the folded forms first.

    Raises:
        ValidationError: the name is refused.
    """
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
        IntegrityError: another account took the name at the same moment. The new account is not kept.
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
    """Store the folded names of accounts with missing or wrong forms, the oldest account first.

    The later of two accounts with one key is marked as a duplicate.

    Args:
        accounts, names: the models. A migration passes its historical ones.
    """
    known = names.objects.values_list("pk", "key", "account__username")
    names.objects.filter(pk__in=[pk for pk, key, username in known.iterator() if key != name_key(username)]).delete()
    without = accounts.objects.filter(account_name=None).order_by("pk").values_list("pk", "username")
    while batch := list(without[:ACCOUNTS_PER_BATCH]):
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
    """Yield a sentence for each account that shares its name with another account in another spelling."""
    for later in names.objects.filter(is_duplicate=True).select_related("account").order_by("key", "pk"):
        first = names.objects.select_related("account").get(key=later.key, is_duplicate=False).account
        yield (
            f"The accounts {first.username!r} (id {first.pk}) and {later.account.username!r} (id {later.pk}) have one"
            " name in different spellings. Each logs in by its exact spelling. Rename one of them in the admin."
        )


def _forms(username: str) -> dict[str, str]:
    return {"key": name_key(username), "search": name_search(username)}


def _vacant_take(names: Any) -> None:
    """Give each key without a holder to the oldest of its duplicates."""
    holders = names.objects.filter(key=OuterRef("key"), is_duplicate=False)
    vacant = names.objects.filter(~Exists(holders), is_duplicate=True).order_by("key", "pk").distinct("key")
    names.objects.filter(pk__in=[one.pk for one in vacant]).update(is_duplicate=False)
