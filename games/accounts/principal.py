"""The principal of a request or a socket, meaning its sender: an account, a guest, or the holder of a seat token."""

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
SEE_ALL_PERMISSIONS: list[str] = []
"""Permissions, each of which lets staff see private objects. ``games.live.players.port_bind`` sets them."""


class SessionSnapshot(NamedTuple):
    """The key and the signed text of a session at the moment when the session was read."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The sender of a request, identified by an account, the guest number of a session, a seat token, or several.

    The account decides what the principal sees and owns; without an account, the guest number decides. Each of the
    three proves seats, so a browser keeps its seats from before the log-in. An unknown principal has none of the three.
    """

    user_id: int | None = None
    name: str = GUEST_NAME
    guest: UUID | None = None
    token: str = ""
    address: str = ""
    """The hashed address of the client (``games.accounts.identity.origin_hash``); empty if no count needs it."""
    sees_all: bool = False
    """Whether the principal is staff with a permission to see private objects (:data:`SEE_ALL_PERMISSIONS`)."""
    links: frozenset[int] = frozenset()
    """Ids of the secret links that this browser has opened. The app that made a link decides what the link shows."""
    session: SessionSnapshot | None = field(default=None, compare=False)
    """The session that identified the guest of a socket.

    Services that write check that this session is unchanged, in the statement that reads the room. If the session has
    changed, they raise ``SessionChangedError``.
    """

    channel: str = field(default="", compare=False)
    """The channel of the socket that sent the request; empty without a socket.

    The socket gets the new state as its answer, so the broadcast of the state leaves out this channel.
    """

    @classmethod
    def of(cls, user: AnyUser | None) -> Principal:
        """Return the principal of an account or a :class:`Visitor`; any other user, or ``None``, is unknown.

        An account has a guest number only in the browser of a pupil. For staff, permissions are read from the database,
        once for each account object.
        """
        guest: UUID | None = getattr(user, "guest", None)
        links: frozenset[int] = getattr(user, "links", frozenset())
        if user is None or not user.is_authenticated:
            return cls(guest=guest, address=getattr(user, "address", ""), links=links)
        sees_all = bool(user.is_staff) and any(map(user.has_perm, SEE_ALL_PERMISSIONS))
        return cls(user_id=user.pk, name=user.get_username(), guest=guest, sees_all=sees_all, links=links)

    @property
    def is_known(self) -> bool:
        """Whether the principal has an account, a guest number or an opened link."""
        return self.user_id is not None or self.guest is not None or bool(self.links)

    @property
    def without_links(self) -> Principal:
        """The same principal without its opened links."""
        return replace(self, links=frozenset())

    @property
    def room_owner(self) -> RoomOwner | None:
        """The owner for which the principal's rooms are counted: the account, else the guest; ``None`` without both."""
        if self.user_id is not None:
            return "account", self.user_id
        return None if self.guest is None else ("guest", self.guest)

    def holds(self, seat: Seat) -> bool:
        """Whether this principal has the seat. The seat of an automated player names no person."""
        return self._is(seat.user_id, seat.guest, seat.token_sha256)

    def hosts(self, room: Room) -> bool:
        """Whether this principal opened the exhibition in this room."""
        return room.is_exhibition and self._is(room.host_id, room.host_guest, room.host_token_sha256)

    def _is(self, user_id: int | None, guest: UUID | None, token_sha256: str) -> bool:
        if self.token and token_sha256 and secrets.compare_digest(token_hash(self.token), token_sha256):
            return True
        if self.user_id is not None and user_id == self.user_id:
            return True
        return self.guest is not None and guest == self.guest


UNKNOWN_PRINCIPAL = Principal()
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


RoomOwner = tuple[str, int | UUID | str]
"""An owner of rooms: a key of ``games.live.match_lists.ROOM_CONDITIONS``, and the owner's id.

The id is the id of an account, a guest number or a hashed address.
"""
