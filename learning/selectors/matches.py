"""Reads of a match: what the machines in it drew and learnt, and how it ended, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from games.live.players import LiveMatch
from games.live.room_state import reason_of, role_of
from games.live.states import (
    Insight,
    LessonDeed,
    MachineBrief,
    PartsInsight,
    ValuesInsight,
)
from games.models import Match, MatchStatus, Seat
from learning.models import Machine


class Line(TypedDict):
    """What is told of one side of a match."""

    role: str


def insights_joined(live: LiveMatch, found: Sequence[Insight]) -> Insight:
    """What several kinds of machines, one or more, have to say of a match, as one word: that of who moved last.

    Each kind tells of its machines in a part of its own; only lessons are told of all of them.
    """
    joined, roles = found[0], live.game.look.layout.roles
    for other in found[1:]:
        draws, changes = joined["draws"] + other["draws"], joined["changes"] + other["changes"]
        lessons = sorted(joined["lessons"] + other["lessons"], key=lambda lesson: roles.index(lesson["role"]))
        later, earlier = (other, joined) if _moved_last(other) > _moved_last(joined) else (joined, other)
        joined = {**earlier, **later, "draws": draws, "changes": changes, "lessons": lessons}
    return joined


def _moved_last(insight: Insight) -> int:
    """The ply of the last move that is told of; -1 for none."""
    moves = _moves_of(insight)
    return moves[-1]["ply"] if moves else -1


def _moves_of(insight: Insight) -> list[Any]:
    """A line, with ply and role, for every move that is told of, the last one last."""
    values, parts = insight.get("values"), insight.get("parts")
    lines: list[Any] = [*insight["draws"], *(values["plies"] if values else ()), *(parts["thoughts"] if parts else ())]
    return sorted(lines, key=lambda line: line["ply"])


LineT = TypeVar("LineT", bound=Line)


def insight_told(insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
    """``learning`` of a room's state for who may see only these machines (by role): as if no other had sat there.

    ``None`` where it would be, had the others not drawn. What a machine that keeps values thought is told of the last
    decision alone, so of another's there is nothing to tell. What is named here is told, and nothing else.
    """

    def own(lines: list[LineT]) -> list[LineT]:
        return [line for line in lines if line["role"] in machines]

    draws, lessons, values = own(insight["draws"]), own(insight["lessons"]), None
    if "values" in insight:
        thought = insight["values"]["thought"]
        values = ValuesInsight(
            thought=thought if thought is not None and thought["role"] in machines else None,
            plies=own(insight["values"]["plies"]),
            changes=own(insight["values"]["changes"]),
        )
    parts = None
    if "parts" in insight:
        parts = PartsInsight(thoughts=own(insight["parts"]["thoughts"]), changes=own(insight["parts"]["changes"]))
    decided = [line["role"] for line in _moves_of(insight) if line["role"] in machines]
    if not decided and not lessons:
        return None
    role = decided[-1] if decided else lessons[0]["role"]
    last = draws[-1] if draws else None
    lesson = next((one for one in lessons if one["role"] == role), None)
    told: Insight = {
        "role": role,
        "machine": machines[role],
        "box": last["box"]["position"] if last else None,
        "beads_before": [slot["beads"] for slot in last["slots"]] if last else None,
        "slot": last["slot"] if last else None,
        "draws": draws,
        "lesson": lesson and {"result": lesson["result"], "sentence": lesson["sentence"]},
        "lessons": lessons,
        "changes": own(insight["changes"]),
    }
    if values is not None:
        told["values"] = values
    if parts is not None:
        told["parts"] = parts
    return told


def lesson_told(name: str, result: str, deed: str, *, changed: bool) -> LessonDeed:
    """What a game was for a machine: its ``result``, the ``deed`` done to the machine, and both as one ``sentence``."""
    ended = {"win": "won", "draw": "drew", "loss": "lost"}[result]
    how = f": {deed[0].lower()}{deed[1:]}" if changed else f". {deed}"
    return {"result": result, "sentence": f"{name} {ended}{how}", "deed": deed}


def nothing_learnt(match: Match, machine: Machine, what: str) -> str:
    """What is said of a match of which a machine's ledger has no lesson: it may have been reset since, or folded up."""
    if machine.folded_at and match.finished_at is not None and match.finished_at <= machine.folded_at:
        return f"This match was long ago. Its lesson is in the {what}, but no longer listed game by game."
    if machine.learns:
        return f"The machine was frozen then, or was reset later. It has no {what} of this match."
    return f"The machine is frozen, so its {what} do not change."


def match_sentence(match: Match, own_side: int | None) -> str:
    """How a match ended, for one of its players."""
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
    """A room to join; ``None`` when somebody has taken its seat between two reads."""
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
    """A match that somebody sits in, or hosts, to go back to; ``is_own`` tells which seats are theirs."""
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
    """A match to watch."""
    return {
        "code": match.room.code,
        "game_name": match.room.game_rules.name,
        "names": [seat.name or "a free seat" for seat in match.seats.all()],
        "ply": match.n_plies,
    }
