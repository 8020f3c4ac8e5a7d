"""Transfer of a guest's possessions to an account, and the room codes that a browser remembers after a log-out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from games.models import Match, MatchStatus


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """Names of a guest's possessions: the possessions that moved into the account, and those that stay with the guest.

    A possession stays if the account has no room for it.
    """

    moved_names: list[str]
    remaining_names: list[str]


class ClaimService(Protocol):
    """The service that moves all possessions of a guest, such as seats and machines, to an account."""

    def __call__(self, *, user_id: int, name: str, guest: UUID) -> ClaimResult:
        """Move everything that the account has room for. Call inside a transaction."""


MAX_WAITING_CODES = 20
"""Maximum number of room codes that a browser remembers after a log-out."""


def waiting_codes_of(user_id: int) -> list[str]:
    """Return the codes of the rooms in which the account waits for an opponent, newest first."""
    waiting = Match.objects.filter(status=MatchStatus.WAITING, seats__user_id=user_id)
    return list(waiting.order_by("-pk").values_list("room__code", flat=True)[:MAX_WAITING_CODES])


WAITING_CODES_KEY = "waiting"
"""Session key. The value: codes of the rooms in which an account waits after it has logged out of this session."""
