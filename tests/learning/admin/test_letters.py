"""The owner of an account hears of changes that the staff makes to it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail

from learning.admin.accounts import PasswordForm
from tests.factories import user

pytestmark = pytest.mark.django_db
NEW_PASSWORD = "quite another password"


def test_password_reset_changes_the_password_alone(client: Any) -> None:
    """A reset of a closed account does not open it again."""
    ada = user("ada", email="ada@example.org")
    client.post("/password/reset", {"email": ada.email})
    link = re.search(r"http://testserver(/password/reset/\S+)", mail.outbox.pop().body)
    assert link
    form = client.get(link[1], follow=True)
    late_form = PasswordForm(ada, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "usable_password": "true"})
    type(ada).objects.filter(pk=ada.pk).update(is_active=False)
    answer = client.post(form.redirect_chain[-1][0], {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD})
    assert b"This account is closed." in answer.content
    type(ada).objects.filter(pk=ada.pk).update(email="new@example.org")
    assert late_form.is_valid()
    late_form.save()
    ada.refresh_from_db()
    assert (ada.is_active, ada.email, "_auth_user_id" in client.session) == (False, "new@example.org", False)


def test_the_owner_hears_of_changes_by_staff(client: Any, django_capture_on_commit_callbacks: Any) -> None:
    client.force_login(user("staff", is_staff=True, is_superuser=True))
    ada, bob = user("ada", email="old@example.org"), user("bob")

    def change_fields(account: Any, **fields: Any) -> list[tuple[str, str]]:
        """Change these fields on the account's page; return address and subject of the letters sent."""
        mail.outbox.clear()
        address = f"/admin/auth/user/{account.pk}/change/"
        initial = client.get(address).context["adminform"].form.initial
        date_fields = {"date_joined_0": account.date_joined.date(), "date_joined_1": account.date_joined.time()}
        form = {"username": account.username, "email": initial["email"], "is_active": "on", **date_fields, **fields}
        with django_capture_on_commit_callbacks(execute=True):
            assert client.post(address, form).status_code == 302
        return [(letter.to[0], letter.subject) for letter in mail.outbox]

    for account, n_letters in ((ada, 1), (bob, 0)):
        page = f"/admin/auth/user/{account.pk}/password/"
        fields_of_password = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, "usable_password": "true"}
        assert client.post(page, {**fields_of_password, "set-password": "x"}).status_code == 302
        account.refresh_from_db()
        assert account.check_password(NEW_PASSWORD)
        assert len(mail.outbox) == n_letters
        mail.outbox.clear()
    subject = "Your e-mail address at Beadbox"
    assert change_fields(ada, first_name="Ada") == []
    assert change_fields(ada, email="new@example.org") == [("old@example.org", subject), ("new@example.org", subject)]
    assert "new@example.org" not in mail.outbox[0].body
    assert change_fields(ada, email="") == [("new@example.org", subject)]
    assert change_fields(bob, email="bob@example.org") == [("bob@example.org", subject)]
