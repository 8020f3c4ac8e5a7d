"""The principal of a request or a socket: an account, a guest, or the holder of a seat token."""

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
SEES_ALL: list[str] = []
"""Permissions with any of which the staff looks at what players hide; ``games.live.players.port_bind`` sets them."""


class SeenSession(NamedTuple):
    """A session as it was read: its key, and its signed text."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The one who asks: an account, the guest number of a session, a seat token, any of them, or nobody known.

    The account decides what a principal sees and owns. The guest number decides only where there is no account. Both
    prove seats: a browser keeps the seats that it took before the log-in.
    """

    user_id: int | None = None
    name: str = GUEST_NAME
    guest: UUID | None = None
    token: str = ""
    address: str = ""
    """The origin of the request, as ``games.accounts.identity.address_of`` hashes it; empty where no count needs it."""
    sees_all: bool = False
    """Of the staff, and may look at what is private (:data:`SEES_ALL`)."""
    links: frozenset[int] = frozenset()
    """The ids of the secret links that this browser has opened. What a link shows, the app that made it decides."""
    seen_in: SeenSession | None = field(default=None, compare=False)
    """The session in which a guest at a socket was read earlier. Services that write check that it still stands, in the
    statement that reads the room, and raise ``SessionChangedError`` where it does not."""

    @classmethod
    def of(cls, user: AnyUser | None) -> Principal:
        """The principal that an account or a :class:`Visitor` is; ``None`` and any other user are nobody known.

        Permissions are read from the database for the staff alone, once for each object of an account.
        """
        links: frozenset[int] = getattr(user, "links", frozenset())
        if user is None or not user.is_authenticated:
            return cls(guest=getattr(user, "guest", None), address=getattr(user, "address", ""), links=links)
        sees_all = bool(user.is_staff) and any(map(user.has_perm, SEES_ALL))
        return cls(user_id=user.pk, name=user.get_username(), sees_all=sees_all, links=links)

    @property
    def is_known(self) -> bool:
        """Whether an account, a guest number or an opened link tells this principal from everybody else."""
        return self.user_id is not None or self.guest is not None or bool(self.links)

    @property
    def without_links(self) -> Principal:
        """The same principal, who has opened no link."""
        return replace(self, links=frozenset())

    @property
    def whose(self) -> RoomsOf | None:
        """What rooms count as theirs: an account's, else a guest's; ``None`` where no browser is known."""
        if self.user_id is not None:
            return "account", self.user_id
        return None if self.guest is None else ("guest", self.guest)

    def holds(self, seat: Seat) -> bool:
        """Whether the seat is this principal's."""
        return seat.is_human and self._is(seat.user_id, seat.guest, seat.token_sha256)

    def hosts(self, room: Room) -> bool:
        """Whether this principal opened the exhibition in this room."""
        return room.is_exhibition and self._is(room.host_id, room.host_guest, room.host_token_sha256)

    def _is(self, user_id: int | None, guest: UUID | None, token_sha256: str) -> bool:
        if self.token and token_sha256 and secrets.compare_digest(token_hash(self.token), token_sha256):
            return True
        if self.user_id is not None and user_id == self.user_id:
            return True
        return self.guest is not None and guest == self.guest


GUEST = Principal()
"""Nobody known: without account, guest number, token and links."""


class Visitor(AnonymousUser):
    """The ``request.user`` of a browser without an account. :meth:`Principal.of` reads what it carries.

    ``guest`` is the guest number of the session, if it has one; ``address`` and ``links`` as of a :class:`Principal`.
    """

    def __init__(self, guest: UUID | None = None, address: str = "", links: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.guest = guest
        self.address = address
        self.links: frozenset[int] = links


def token_hash(token: str) -> str:
    """The SHA-256 of a token, as stored."""
    return hashlib.sha256(token.encode()).hexdigest()


RoomsOf = tuple[str, int | UUID | str]
"""A key of :data:`IS_OF`, and which account, guest or address."""
