"""E-mails to the owner of an account about a change of the account, in case another person made it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.template.loader import get_template


def send_password_changed(user: User) -> None:
    """Send the owner an e-mail about a new password. A failure to send it does not undo the change."""
    _send(user, "Your password at Beadbox", "registration/password_changed_email.txt", user.email)


def send_address_changed(user: User, old: str) -> None:
    """Send an e-mail about a changed address to both the old and the new address."""
    for address in dict.fromkeys((old, user.email)):
        _send(user, "Your e-mail address at Beadbox", "registration/address_changed_email.txt", address)


def _send(user: User, subject: str, template: str, address: str) -> None:
    if address:
        send_mail(subject, get_template(template).render({"user": user}), None, [address], fail_silently=True)
