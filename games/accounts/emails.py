"""Letters to whoever owns an account, about what has changed: it may have been somebody else."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.template.loader import get_template


def password_told(user: User) -> None:
    """Of a new password. Where the letter cannot be sent the password is changed all the same."""
    _send(user, "Your password at Beadbox", "registration/password_changed_email.txt", user.email)


def address_told(user: User, old: str) -> None:
    """Of another e-mail address, to both: whoever reads one of them alone hears of it."""
    for address in dict.fromkeys((old, user.email)):
        _send(user, "Your e-mail address at Beadbox", "registration/address_changed_email.txt", address)


def _send(user: User, subject: str, template: str, address: str) -> None:
    if address:
        send_mail(subject, get_template(template).render({"user": user}), None, [address], fail_silently=True)
