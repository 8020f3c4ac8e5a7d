"""Transfer of a guest's possessions to an account, and the codes that a browser remembers after a log-out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from games.models import Match, MatchStatus


@dataclass(frozen=True, slots=True)
class Claimed:
    """Names of the possessions of a guest that moved into an account (``taken``) and that stayed behind (``left``)."""

    taken: list[str]
    left: list[str]


class ClaimSeats(Protocol):
    """The service that moves all possessions of a guest, such as seats and machines, to an account."""

    def __call__(self, *, user_id: int, name: str, guest: UUID) -> Claimed:
        """Move everything that the account has room for. Call inside a transaction."""


CODES_KEPT = 20
"""Room codes that a browser remembers after a log-out, at most."""


def codes_waiting_of(user_id: int) -> list[str]:
    """Return the codes of the rooms in which the account waits for an opponent, newest first."""
    waiting = Match.objects.filter(status=MatchStatus.WAITING, seats__user_id=user_id)
    return list(waiting.order_by("-pk").values_list("room__code", flat=True)[:CODES_KEPT])


WAITING_KEY = "waiting"
"""Session key. The value is the codes of rooms in which an account waits that has logged out of this session."""
