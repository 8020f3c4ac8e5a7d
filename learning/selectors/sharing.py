"""Look-up of machines by secret links."""

from __future__ import annotations

import re

from learning.exceptions import LinkedMachineGoneError, LinkEndedError, LinkNotFoundError
from learning.models import Machine, SharedLink

SECRET_FORM = re.compile(r"([A-Za-z0-9_-]{43})[^A-Za-z0-9_-]*")
"""A secret; characters after it, such as a full stop in a message with the link, are ignored."""


def machine_shared(secret: str) -> Machine:
    """Return the machine that a link shows, by the secret of the link.

    Raises:
        LinkNotFoundError: such a link never existed, or was deleted long ago.
        LinkEndedError: the owner revoked the link, or the owner's account was closed.
        LinkedMachineGoneError: the machine has been deleted.
    """
    form = SECRET_FORM.fullmatch(secret)
    link = SharedLink.objects.filter(secret=form[1]).first() if form else None
    if link is None:
        raise LinkNotFoundError
    if link.ended_at is not None:
        raise LinkEndedError
    # Copies that were played through the link have no owner.
    machine = Machine.objects.filter(share=link).exclude(owner=None, guest=None).first()
    if machine is None:
        raise LinkedMachineGoneError
    return machine
