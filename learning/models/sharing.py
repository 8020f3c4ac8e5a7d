"""Access lists of machines, secret links that show machines, and guests after their machines have moved."""

from __future__ import annotations

import secrets
from uuid import UUID

from django.db import models
from django.urls import reverse
from django.utils import timezone

AccessList = list[int | str] | None
"""The viewers that may see a machine, as JSON; ``None`` if the machine is public.

Entries are ids of accounts, numbers of guests in hexadecimal, links (:func:`link_entry`) and pupils
(:func:`pupil_entry`)."""


def link_entry(link_id: int) -> str:
    """Return the entry of an :data:`AccessList` for browsers that have opened a shared link."""
    return f"link {link_id}"


def pupil_entry(pupil: UUID) -> str:
    """Return the entry of an :data:`AccessList` for the browser of a pupil, logged in or not."""
    return f"pupil {pupil.hex}"


def link_secret() -> str:
    """Return the secret of a link: 256 random bits as text."""
    return secrets.token_urlsafe(32)


class SharedLink(models.Model):
    """A secret link that shows a private machine (docs/decisions/0111-shared-links.md).

    While the link works, the machine refers to it, and so do the copies that were played through the link. The row
    outlives them for a while, so that the link's page can say why it no longer works. The secret is stored unhashed,
    because the owner can copy the link again. A reader of the database could read the machine anyway.
    """

    secret = models.CharField(max_length=43, unique=True, default=link_secret, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="When the owner ended the link.")

    def __str__(self) -> str:
        return f"link {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address by which a friend opens the machine."""
        return reverse("shared", args=[self.secret])


class MovedGuest(models.Model):
    """A guest number without machines, because all have moved to an account; no more are created for this guest.

    Otherwise a request that is already on its way could create a machine that no browser finds. Rows are kept a day.
    """

    guest = models.UUIDField(primary_key=True)
    moved_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return str(self.guest)
