"""What a guest takes along into an account, and what a browser keeps of an account that logs out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from games.models import Match, MatchStatus


@dataclass(frozen=True, slots=True)
class Claimed:
    """The names of what came along from a guest into an account, and of what did not."""

    taken: list[str]
    left: list[str]


class ClaimSeats(Protocol):
    """The service that moves a guest's seats, machines and the rest to an account."""

    def __call__(self, *, user_id: int, name: str, guest: UUID) -> Claimed:
        """Move everything; call it inside a transaction."""


CODES_KEPT = 20
"""Rooms in which an account waits that its browser still knows after it has logged out."""


def codes_waiting_of(user_id: int) -> list[str]:
    """The codes of those rooms, the newest first, in which an account waits for somebody to take the other seat."""
    waiting = Match.objects.filter(status=MatchStatus.WAITING, seats__user_id=user_id)
    return list(waiting.order_by("-pk").values_list("room__code", flat=True)[:CODES_KEPT])


WAITING_KEY = "waiting"
"""In a session: the codes of the rooms in which accounts wait that have logged out of it."""
