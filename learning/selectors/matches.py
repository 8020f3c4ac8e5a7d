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
    """A machine's lesson: the ``result``, its effect (``deed``), and both as one ``sentence``."""
    ended = {"win": "won", "draw": "drew", "loss": "lost"}[result]
    how = f": {effect[0].lower()}{effect[1:]}" if changed else f". {effect}"
    return {"result": result, "sentence": f"{name} {ended}{how}", "deed": effect}


def nothing_learnt(match: Match, machine: Machine, what: str) -> str:
    """The explanation of a match without a lesson in the machine's ledger: after a reset or compaction, for example."""
    if machine.folded_at and match.finished_at is not None and match.finished_at <= machine.folded_at:
        return f"This match was long ago. Its lesson is in the {what}, but no longer listed game by game."
    if machine.learns:
        return f"The machine was frozen then, or was reset later. It has no {what} of this match."
    return f"The machine is frozen, so its {what} do not change."


def match_sentence(match: Match, own_side: int | None) -> str:
    """The end of a match in words, for one of its players."""
    if not match.is_over:
        return "waiting for an opponent" if match.status == MatchStatus.WAITING else "not finished yet"
    if match.winner is None:
        return f"a draw: {reason_of(match)}"
    if own_side is None:
        return f"{match.room.game_rules.look.layout.role_names[match.winner]} won: {reason_of(match)}"
    return f"you {'won' if match.winner == own_side else 'lost'}: {reason_of(match)}"


def match_line(match: Any) -> dict[str, object]:
    """A match as a line of the list of matches of a person (``games.live.match_lists.match_list_of``)."""
    others = [seat.name for seat in match.seats.all() if seat.side != match.own_side]
    return {
        "code": match.room.code,
        "number": match.number,
        "game_name": match.room.game_rules.name,
        "opponent": others[0] if others else "",
        "result_sentence": match_sentence(match, match.own_side),
        "when": match.created_at,
        "url": match.get_absolute_url(),
    }


def match_waiting(match: Match) -> dict[str, object] | None:
    """A room to join; ``None`` if its seat has been taken between two reads."""
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
    """A match to return to, for its host or a player; ``is_own`` tells which seats are the reader's."""
    names = [
        ("you" if at else "You") if is_own(seat) else seat.name or "a free seat"
        for at, seat in enumerate(match.seats.all())
    ]
    return {
        "url": match.room.get_absolute_url(),
        "game_name": match.room.game_rules.name,
        "names": names,
        "is_waiting": match.status == MatchStatus.WAITING,
        "ply": match.n_plies,
    }


def match_live(match: Match) -> dict[str, object]:
    """A match for the list of matches to watch."""
    return {
        "code": match.room.code,
        "game_name": match.room.game_rules.name,
        "names": [seat.name or "a free seat" for seat in match.seats.all()],
        "ply": match.n_plies,
    }
