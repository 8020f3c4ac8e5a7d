"""Events for open pages of machines, training runs and tournaments, sent after the transaction has committed."""

from __future__ import annotations

from games.live.events import group_tell
from games.transport.broadcaster import Message, group_is_heard
from learning.models import AccessList, Machine
from learning.states import BoxNews, MachineNews, PointState, PrivateEntry, RunProgress, TournamentState

TELL_EVERY_S = 0.25
"""Minimum seconds between two messages of a process to a machine's page; events in between are sent as one."""


def machine_group(machine_id: int) -> str:
    """Return the channel group of pages that show a machine."""
    return f"machine.{machine_id}"


def run_group(run_id: int) -> str:
    """Return the channel group of pages that show a training run."""
    return f"run.{run_id}"


def run_changed(run_id: int, view: RunProgress, points: list[PointState], audience: AccessList) -> None:
    """Send a run's page its progress and new points of its curve; ``audience`` is that of its machine."""
    group_tell(run_group(run_id), {"type": "run.state", "data": {**view, "points": points}, "audience": audience})


def tournament_group(tournament_id: int) -> str:
    """Return the channel group of pages that show a tournament."""
    return f"tournament.{tournament_id}"


def tournament_is_watched(tournament_id: int) -> bool:
    """Whether a page shows a tournament, so that its state is worth computing."""
    return group_is_heard(tournament_group(tournament_id))


def tournament_changed(tournament_id: int, whole: TournamentState, private: list[PrivateEntry]) -> None:
    """Send a tournament's page its state; each socket passes on only the part that its reader may know."""
    group_tell(tournament_group(tournament_id), {"type": "tournament.state", "whole": whole, "private": private})


def bead_drawn(machine: Machine, drawn: dict[str, object]) -> None:
    """Send a machine's page the bead drawn in a live match."""
    _machine_tell(machine, [], {"boxes": [], "drawn": drawn, "totals": None, "lesson": machine.n_lessons})


def audience_changed(machine: Machine) -> None:
    """Send a machine's page no news but the new audience; sockets of other readers close."""
    _machine_tell(machine, [], {"boxes": [], "drawn": None, "totals": None, "lesson": machine.n_lessons})


def boxes_changed(machine: Machine, boxes: list[BoxNews], lessons: list[int]) -> bool:
    """Send a machine's page the beads of these boxes since these lessons, and its totals after the last of them.

    Each lesson is sent, with or without changed boxes, so that a page notices when it has missed one. Returns whether
    the message could be sent; a caller that gathers changes otherwise sends them again with the next ones.
    """
    totals = {
        "games": machine.n_games,
        "wins": machine.n_wins,
        "draws": machine.n_draws,
        "losses": machine.n_losses,
        "level": machine.level,
    }
    return _machine_tell(
        machine, lessons, {"boxes": boxes, "drawn": None, "totals": totals, "lesson": machine.n_lessons}
    )


def news_merge(before: MachineNews, after: MachineNews) -> MachineNews:
    """Merge two messages in any order: each box, and the totals, are as the later lesson left them."""
    boxes: dict[str, BoxNews] = {}
    for box in [*before["boxes"], *after["boxes"]]:
        if box["lesson"] >= boxes.get(box["position"], box)["lesson"]:
            boxes[box["position"]] = box
    earlier, later = sorted((before, after), key=lambda news: news["lesson"])
    return {
        "boxes": list(boxes.values()),
        "drawn": after["drawn"] or before["drawn"],
        "totals": later["totals"] or earlier["totals"],
        "lesson": later["lesson"],
    }


def _machine_tell(machine: Machine, lessons: list[int], data: MachineNews) -> bool:
    message = {"type": "machine.boxes", "data": data, "lessons": lessons, "audience": machine.audience}
    return group_tell(machine_group(machine.pk), message, merge=_merged, every_s=TELL_EVERY_S)


def _merged(before: Message, after: Message) -> Message:
    data = news_merge(before["data"], after["data"])
    return {**after, "data": data, "lessons": [*before["lessons"], *after["lessons"]]}
