"""Accounts by name. Two spellings that differ only in case or Unicode normal form are one name (``AccountName``).

The folded forms of a name are its key, equal for all spellings, and its text for searches.
"""

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


def account_get_by_name(name: str) -> Any:
    """Return the account with this exact name, else the account with the same key; ``None`` if there is none."""
    accounts = get_user_model().objects
    by_key = accounts.filter(account_name__key=name_key(name), account_name__is_duplicate=False)
    return accounts.filter(username=name).first() or by_key.first()


def log_in_name_key(name: str) -> str:
    """Return the key by which axes counts the log-ins of all spellings of a name. Its columns hold 255 characters."""
    return name_key(name)[:255]


class AnySpellingBackend(ModelBackend):
    """Django's log-in, extended to accept the name in any case and normal form."""

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> Any:
        """Return the account of the name if the password is right; ``None`` without a name or a password.

        Raises:
            PermissionDenied: the password is wrong. The error stops Django from asking the next backend, which would
                compare the password a second time.
        """
        if username is None or password is None:
            return None
        account = account_get_by_name(username)
        exact_name = username if account is None else account.get_username()
        user = super().authenticate(request, username=exact_name, password=password, **kwargs)
        if user is None:
            raise PermissionDenied
        return user


def account_name_require(name: str, account: Any) -> AccountName | None:
    """Refuse an account name that cannot be shown or that another account has.

    Returns:
        The stored row of the account's previous name; ``None`` for a new account.

    Raises:
        ValidationError: the name is refused.
    """
    key = name_key(name)
    stored_name = None if account.pk is None else AccountName.objects.filter(account=account).first()
    if stored_name is None or stored_name.key != key:
        name_validate(name)
        if AccountName.objects.filter(key=key).exclude(account=account.pk).exists():
            raise ValidationError(NAME_TAKEN, code="unique")
    return stored_name


class NameForm:
    """A form with an account name that no other account has in any spelling."""

    def clean_username(self) -> Any:
        """Return the name if no other account has it in any case or normal form."""
        form: Any = self
        django_clean = getattr(super(), "clean_username", None)
        name = form.cleaned_data["username"] if django_clean is None else django_clean()
        if name:  # Django returns None for a name that it has refused.
            account_name_require(name, form.instance)
        return name


def name_before_save(instance: Any, raw: bool, update_fields: Any = None, **_: Any) -> None:
    """Check the name of an account before it is saved. For a renamed account, store the new folded forms.

    Raises:
        ValidationError: the name is refused.
    """
    if raw or (update_fields is not None and "username" not in update_fields):
        return
    try:
        stored_name = account_name_require(instance.username, instance)
    except ValidationError as error:
        raise ValidationError({"username": error.error_list}) from None
    if stored_name is not None and stored_name.key != name_key(instance.username):
        with transaction.atomic():
            AccountName.objects.filter(account=instance).update(is_duplicate=False, **_folded_forms(instance.username))
            _fill_vacant_keys(AccountName)


def name_after_save(instance: Any, created: bool, raw: bool, **_: Any) -> None:
    """Store the folded forms of a new account's name.

    Raises:
        IntegrityError: another account took the name at the same moment. The new account is deleted again.
    """
    if not created or raw:
        return
    try:
        with transaction.atomic():
            AccountName.objects.create(account=instance, **_folded_forms(instance.username))
    except IntegrityError:
        if not connection.in_atomic_block:
            instance.delete()
        raise


def account_names_fill(accounts: Any, names: Any) -> None:
    """Store the folded forms that accounts lack, and correct wrong forms, the oldest account first.

    The later of two accounts with one key is marked as a duplicate.

    Args:
        accounts, names: the models of accounts and folded names. A migration passes its historical models.
    """
    stored_names = names.objects.values_list("pk", "key", "account__username")
    names.objects.filter(
        pk__in=[pk for pk, key, username in stored_names.iterator() if key != name_key(username)]
    ).delete()
    accounts_without_name = accounts.objects.filter(account_name=None).order_by("pk").values_list("pk", "username")
    while batch := list(accounts_without_name[:ACCOUNTS_PER_BATCH]):
        forms = {pk: _folded_forms(username) for pk, username in batch}
        keys = [folded["key"] for folded in forms.values()]
        keys_in_use = set(names.objects.filter(key__in=keys, is_duplicate=False).values_list("key", flat=True))
        rows = []
        for pk, folded in forms.items():
            rows.append(names(account_id=pk, is_duplicate=folded["key"] in keys_in_use, **folded))
            keys_in_use.add(folded["key"])
        # If a new account took one of the keys meanwhile, the next turn of the loop reads this batch again.
        with contextlib.suppress(IntegrityError), transaction.atomic():
            names.objects.bulk_create(rows)
    _fill_vacant_keys(names)


def account_names_shared(names: Any) -> Iterator[str]:
    """Yield a sentence for each account that shares its name with another account in another spelling."""
    for later in names.objects.filter(is_duplicate=True).select_related("account").order_by("key", "pk"):
        first = names.objects.select_related("account").get(key=later.key, is_duplicate=False).account
        yield (
            f"The accounts {first.username!r} (id {first.pk}) and {later.account.username!r} (id {later.pk}) have one"
            " name in different spellings. Each logs in by its exact spelling. Rename one of them in the admin."
        )


def _folded_forms(username: str) -> dict[str, str]:
    return {"key": name_key(username), "search": name_search(username)}


def _fill_vacant_keys(names: Any) -> None:
    """Make the oldest duplicate of each key that no account holds the holder of the key."""
    holders = names.objects.filter(key=OuterRef("key"), is_duplicate=False)
    vacant = names.objects.filter(~Exists(holders), is_duplicate=True).order_by("key", "pk").distinct("key")
    names.objects.filter(pk__in=[name.pk for name in vacant]).update(is_duplicate=False)
