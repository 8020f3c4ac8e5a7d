"""Who asks: an account, a guest, or a seat token; and whom they look as."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User

from games.models import Room, Seat

GUEST_NAME = "Guest"

AnyUser: TypeAlias = User | AnonymousUser
"""The user of a request: an account, or a :class:`Visitor`."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks: an account, the guest number of a session, a seat token, or any of them."""

    user_id: int | None = None
    name: str = GUEST_NAME
    guest: UUID | None = None
    token: str = ""
    address: str = ""
    """Where they ask from, as ``games.accounts.identity.address_of`` hashes it; empty where nobody needs to know."""
    sees_all: bool = False
    links: frozenset[int] = frozenset()
    """As of a :class:`games.accounts.principal.Viewer`."""
    seen_in: SeenSession | None = field(default=None, compare=False)
    """The session that a guest at a socket was read in some time ago: services that write look whether it still stands,
    in the statement that reads the room, and raise ``SessionChangedError`` where it does not."""

    @property
    def viewer(self) -> Viewer:
        """Whom this person looks as: their account counts, a seat that they can prove does not."""
        return Viewer(self.user_id, self.sees_all, self.guest if self.user_id is None else None, self.links)

    @property
    def whose(self) -> RoomsOf | None:
        """What rooms count as theirs: an account's, else a guest's; ``None`` where no browser is known."""
        if self.user_id is not None:
            return "account", self.user_id
        return None if self.guest is None else ("guest", self.guest)

    def holds(self, seat: Seat) -> bool:
        """Whether the seat is this person's."""
        return seat.is_human and self._is(seat.user_id, seat.guest, seat.token_sha256)

    def hosts(self, room: Room) -> bool:
        """Whether this person opened the exhibition in this room."""
        return room.is_exhibition and self._is(room.host_id, room.host_guest, room.host_token_sha256)

    def _is(self, user_id: int | None, guest: UUID | None, token_sha256: str) -> bool:
        if self.token and token_sha256 and secrets.compare_digest(token_hash(self.token), token_sha256):
            return True
        if self.user_id is not None and user_id == self.user_id:
            return True
        return self.guest is not None and guest == self.guest


def token_hash(token: str) -> str:
    """The SHA-256 of a token, as stored."""
    return hashlib.sha256(token.encode()).hexdigest()


class Visitor(AnonymousUser):
    """Somebody without an account, known by the guest number of their browser's session if they have one.

    ``address`` is that of who makes something, as ``games.accounts.identity.address_of`` hashes it; ``links`` as of a
    :class:`Viewer`.
    """

    def __init__(self, guest: UUID | None = None, address: str = "", links: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.guest = guest
        self.address = address
        self.links: frozenset[int] = links


@dataclass(frozen=True, slots=True)
class Viewer:
    """The person who looks: an account, a guest by number, or (without arguments) anybody."""

    user_id: int | None = None
    sees_all: bool = False
    """Of the staff, and may look at what is private (:data:`SEES_ALL`)."""
    guest: UUID | None = None
    links: frozenset[int] = frozenset()
    """The ids of the secret links that this browser has opened. What a link shows, the app that made it decides."""

    @classmethod
    def of(cls, user: AnyUser | None) -> Viewer:
        """The viewer that an account or a :class:`Visitor` is; ``None`` and any other user are anybody.

        Of the staff alone, permissions are read from the database, once for each object of an account.
        """
        links: frozenset[int] = getattr(user, "links", frozenset())
        if user is None or not user.is_authenticated:
            return cls(guest=getattr(user, "guest", None), links=links)
        return cls(user.pk, bool(user.is_staff) and any(map(user.has_perm, SEES_ALL)), links=links)

    @property
    def without_links(self) -> Viewer:
        """The same viewer, who has opened no link."""
        return replace(self, links=frozenset())


GUEST = Viewer()

SEES_ALL: list[str] = []
"""Permissions with any of which the staff looks at what players hide; registered where an app's ``ready`` registers
its players."""


class SeenSession(NamedTuple):
    """A session as it was read: its key, and its signed text."""

    key: str
    text: str


RoomsOf = tuple[str, int | UUID | str]
"""A key of :data:`IS_OF`, and which account, guest or address."""
