"""The part ``learning`` of a room's state: joined over several kinds of machines, and redacted for a viewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from games.live.players import LiveMatch
from games.live.states import (
    Insight,
    MachineBrief,
    PartsInsight,
    ValuesInsight,
)


class Line(TypedDict):
    """An entry of an insight that belongs to one side of a match."""

    role: str


def join_insights(live: LiveMatch, found: Sequence[Insight]) -> Insight:
    """Join the insights of several kinds of machines.

    Each kind has its own part of the result; the lessons cover machines of all kinds. Fields for a single machine, such
    as ``box``, describe the machine that moved last.
    """
    joined, roles = found[0], live.game.presentation.layout.roles
    for other in found[1:]:
        draws, changes = joined["draws"] + other["draws"], joined["changes"] + other["changes"]
        lessons = sorted(joined["lessons"] + other["lessons"], key=lambda lesson: roles.index(lesson["role"]))
        later, earlier = (other, joined) if _last_ply(other) > _last_ply(joined) else (joined, other)
        joined = {**earlier, **later, "draws": draws, "changes": changes, "lessons": lessons}
    return joined


def _last_ply(insight: Insight) -> int:
    """Return the ply of the last move in an insight; -1 if there is none."""
    moves = _moves_of(insight)
    return moves[-1]["ply"] if moves else -1


def _moves_of(insight: Insight) -> list[Any]:
    """Return the entry of every move in an insight, with ply and role, in order of play."""
    values, parts = insight.get("values"), insight.get("parts")
    lines: list[Any] = [*insight["draws"], *(values["plies"] if values else ()), *(parts["thoughts"] if parts else ())]
    return sorted(lines, key=lambda line: line["ply"])


LineT = TypeVar("LineT", bound=Line)


def redact_joined_insight(insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
    """Return the part of an insight that a viewer may see; ``machines`` are the visible machines by role.

    The result is the same as in a match without the other machines, or ``None`` if nothing remains. An insight on
    machines with values has one thought, on the last decision. The thought is removed if a hidden machine had it. The
    result has only the fields that this function names.
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
    redacted: Insight = {
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
        redacted["values"] = values
    if parts is not None:
        redacted["parts"] = parts
    return redacted
