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
"""Permissions any one of which lets staff see what players hide. ``games.live.players.port_bind`` sets them."""


class SeenSession(NamedTuple):
    """The key and the signed text of a session, as they were read."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The party behind a request: an account, the guest number of a session, a seat token, several of them, or none.

    The account decides what a principal sees and owns. The guest number decides only where there is no account. Both
    prove seats: a browser keeps the seats that it took before the log-in.
    """

    user_id: int | None = None
    name: str = GUEST_NAME
    guest: UUID | None = None
    token: str = ""
    address: str = ""
    """The hashed origin of the request (``games.accounts.identity.origin_hash``); empty where no count needs it."""
    sees_all: bool = False
    """Whether the principal is staff with a permission to see what is private (:data:`SEES_ALL`)."""
    links: frozenset[int] = frozenset()
    """The ids of the secret links that this browser has opened. The app that made a link decides what it shows."""
    seen_in: SeenSession | None = field(default=None, compare=False)
    """The session in which a guest at a socket was read earlier.

    Services that write check in the statement that reads the room that the session still stands. If it does not, they
    raise ``SessionChangedError``.
    """

    @classmethod
    def of(cls, user: AnyUser | None) -> Principal:
        """Return the principal of an account or a :class:`Visitor`; any other user, or ``None``, is unknown.

        Permissions are read from the database only for staff, once per account object.
        """
        links: frozenset[int] = getattr(user, "links", frozenset())
        if user is None or not user.is_authenticated:
            return cls(guest=getattr(user, "guest", None), address=getattr(user, "address", ""), links=links)
        sees_all = bool(user.is_staff) and any(map(user.has_perm, SEES_ALL))
        return cls(user_id=user.pk, name=user.get_username(), sees_all=sees_all, links=links)

    @property
    def is_known(self) -> bool:
        """Whether the principal has an account, a guest number or an opened link."""
        return self.user_id is not None or self.guest is not None or bool(self.links)

    @property
    def without_links(self) -> Principal:
        """The same principal without its opened links."""
        return replace(self, links=frozenset())

    @property
    def whose(self) -> RoomsOf | None:
        """The owner under which the principal's rooms count: the account, else the guest; ``None`` without either."""
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
"""The unknown principal: no account, guest number, token or links."""


class Visitor(AnonymousUser):
    """The ``request.user`` of a browser without an account. :meth:`Principal.of` reads its attributes.

    ``guest`` is the guest number of the session, if the session has one. ``address`` and ``links`` are as in
    :class:`Principal`.
    """

    def __init__(self, guest: UUID | None = None, address: str = "", links: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self.guest = guest
        self.address = address
        self.links: frozenset[int] = links


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token, in the hexadecimal form that is stored."""
    return hashlib.sha256(token.encode()).hexdigest()


RoomsOf = tuple[str, int | UUID | str]
"""An owner of rooms: a key of :data:`IS_OF`, and the id of the account, the guest number or the hashed address."""
