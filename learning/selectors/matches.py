"""Reads of a match: the draws and lessons of its machines, and its end in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from games.live.room_state import reason_of, role_of
from games.live.states import (
    LessonSummary,
)
from games.models import Match, MatchStatus, Seat
from learning.models import Machine


def lesson_summary(name: str, result: str, effect: str, *, changed: bool) -> LessonSummary:
    """Return the summary of a machine's lesson.

    Args:
        name: of the machine.
        result: ``win``, ``draw`` or ``loss``.
        effect: the effect on the machine's memory, as a sentence.
        changed: whether the lesson changed the memory.
    """
    verb = {"win": "won", "draw": "drew", "loss": "lost"}[result]
    continuation = f": {effect[0].lower()}{effect[1:]}" if changed else f". {effect}"
    return {"result": result, "sentence": f"{name} {verb}{continuation}", "deed": effect}


def nothing_learnt(match: Match, machine: Machine, noun: str) -> str:
    """Return the sentence that explains why the machine's ledger has no lesson of a match.

    ``noun`` is the word for the contents of the memory, such as beads.
    """
    if machine.folded_at and match.finished_at is not None and match.finished_at <= machine.folded_at:
        return f"This match was long ago. Its lesson is in the {noun}, but no longer listed game by game."
    if machine.learns:
        return f"The machine was frozen then, or was reset later. It has no {noun} of this match."
    return f"The machine is frozen, so its {noun} do not change."


def match_sentence(match: Match, own_side: int | None) -> str:
    """Return the end of a match in words, for the player of ``own_side`` (``None``: for a spectator)."""
    if not match.is_over:
        return "waiting for an opponent" if match.status == MatchStatus.WAITING else "not finished yet"
    if match.winner is None:
        return f"a draw: {reason_of(match)}"
    if own_side is None:
        return f"{match.room.game_rules.presentation.layout.role_names[match.winner]} won: {reason_of(match)}"
    return f"you {'won' if match.winner == own_side else 'lost'}: {reason_of(match)}"


def match_line(match: Any) -> dict[str, object]:
    """Return a match as a line of a person's list of matches; it has ``own_side`` (``games.live.match_lists``)."""
    opponents = [seat.name for seat in match.seats.all() if seat.side != match.own_side]
    return {
        "code": match.room.code,
        "number": match.number,
        "game_name": match.room.game_rules.name,
        "opponent": opponents[0] if opponents else "",
        "result_sentence": match_sentence(match, match.own_side),
        "when": match.created_at,
        "url": match.get_absolute_url(),
    }


def match_waiting(match: Match) -> dict[str, object] | None:
    """Return the view of a waiting match that can be joined; ``None`` if its free seat has just been taken."""
    free = next((seat for seat in match.seats.all() if seat.is_free), None)
    host = next((seat for seat in match.seats.all() if not seat.is_free), None)
    if free is None:
        return None
    return {
        "code": match.room.code,
        "game_name": match.room.game_rules.name,
        "host_name": host.name if host else "nobody",
        "free_role": role_of(match, free.side),
        "age": match.created_at,
    }


def match_own(match: Match, is_own: Callable[[Seat], bool]) -> dict[str, object]:
    """Return the view of an unfinished match to which its host or player can return.

    ``is_own`` says whether a seat is the reader's.
    """
    names = [
        ("you" if index else "You") if is_own(seat) else seat.name or "a free seat"
        for index, seat in enumerate(match.seats.all())
    ]
    return {
        "url": match.room.get_absolute_url(),
        "game_name": match.room.game_rules.name,
        "names": names,
        "is_waiting": match.status == MatchStatus.WAITING,
        "ply": match.n_plies,
    }


def match_live(match: Match) -> dict[str, object]:
    """Return the view of a match in the list of matches to watch."""
    return {
        "code": match.room.code,
        "game_name": match.room.game_rules.name,
        "names": [seat.name or "a free seat" for seat in match.seats.all()],
        "ply": match.n_plies,
    }
