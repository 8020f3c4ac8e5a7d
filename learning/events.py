"""Events for open pages of machines, training runs and tournaments, sent after the transaction has committed."""

from __future__ import annotations

from collections.abc import Sequence

from games.transport.broadcaster import Broadcast, Message, group_has_listeners, group_write
from learning.models import AccessList, Machine
from learning.states import BoxNews, MachineNews, PointState, PrivateEntry, RunProgress, TournamentState

TELL_EVERY_S = 0.25
"""Minimum seconds between two messages of a process to a machine's page; events in between are merged."""


def machine_group(machine_id: int) -> str:
    """Return the name of the channel group of pages that show a machine."""
    return f"machine.{machine_id}"


def run_group(run_id: int) -> str:
    """Return the name of the channel group of pages that show a training run."""
    return f"run.{run_id}"


def run_changed(run_id: int, view: RunProgress, points: list[PointState], audience: AccessList) -> None:
    """Send the progress of a run and new points of its curve to its page.

    ``audience`` has the viewers that may see the run's machine (:attr:`Machine.audience`).
    """
    message = {"type": "run.state", "data": {**view, "points": points}, "audience": audience}
    group_write(run_group(run_id), Broadcast(message))


def tournament_group(tournament_id: int) -> str:
    """Return the name of the channel group of pages that show a tournament."""
    return f"tournament.{tournament_id}"


def tournament_is_watched(tournament_id: int) -> bool:
    """Whether a page shows a tournament, so that its state is worth computing."""
    return group_has_listeners(tournament_group(tournament_id))


def tournament_changed(tournament_id: int, whole: TournamentState, private: list[PrivateEntry]) -> None:
    """Send the state of a tournament to its page; each socket redacts the state for its viewer."""
    message = {"type": "tournament.state", "whole": whole, "private": private}
    group_write(tournament_group(tournament_id), Broadcast(message))


def machine_changed(
    machine: Machine,
    boxes: Sequence[BoxNews] = (),
    lessons: Sequence[int] = (),
    *,
    drawn: dict[str, object] | None = None,
) -> bool:
    """Send news of a machine to its page; return whether the message could be sent.

    Each lesson is sent, even without changed boxes, so that a page notices a missing lesson. If a message could not be
    sent, a caller that collects changes sends them again with the next ones. At any news, the sockets of viewers
    without access close.

    Args:
        machine: the machine after the last of the lessons.
        boxes: the boxes changed by the lessons.
        lessons: the numbers of the lessons. With them, the machine's totals are sent.
        drawn: a bead that was drawn in a live match.
    """
    data: MachineNews = {"boxes": list(boxes), "drawn": drawn, "totals": None, "lesson": machine.n_lessons}
    if lessons:
        data["totals"] = {
            "games": machine.n_games,
            "wins": machine.n_wins,
            "draws": machine.n_draws,
            "losses": machine.n_losses,
            "level": machine.level,
        }
    message = {"type": "machine.boxes", "data": data, "lessons": list(lessons), "audience": machine.audience}
    return group_write(machine_group(machine.pk), Broadcast(message, merge=_merged, min_interval_s=TELL_EVERY_S))


def news_merge(before: MachineNews, after: MachineNews) -> MachineNews:
    """Merge two messages that may arrive in any order: the later lesson decides on each box and on the totals."""
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


def _merged(before: Message, after: Message) -> Message:
    data = news_merge(before["data"], after["data"])
    return {**after, "data": data, "lessons": [*before["lessons"], *after["lessons"]]}
