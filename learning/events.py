"""What is told to open pages of machines, training runs and tournaments, after the transaction has committed."""

from __future__ import annotations

from games.live.events import group_tell
from games.transport.broadcaster import Message, group_is_heard
from learning.models import AccessList, Machine
from learning.states import BoxNews, MachineNews, PointState, PrivateEntry, RunProgress, TournamentState

TELL_EVERY_S = 0.25
"""A process tells a machine's page no more often than this, whatever happens; what comes meanwhile is told together."""


def machine_group(machine_id: int) -> str:
    """The group of everybody who looks at a machine."""
    return f"machine.{machine_id}"


def run_group(run_id: int) -> str:
    """The group of everybody who watches a training run."""
    return f"run.{run_id}"


def run_changed(run_id: int, view: RunProgress, points: list[PointState], audience: AccessList) -> None:
    """Tell a run's page how far it is, and the points that its curve has got; ``audience`` is that of its machine."""
    group_tell(run_group(run_id), {"type": "run.state", "data": {**view, "points": points}, "audience": audience})


def tournament_group(tournament_id: int) -> str:
    """The group of everybody who watches a tournament."""
    return f"tournament.{tournament_id}"


def tournament_is_watched(tournament_id: int) -> bool:
    """Whether anybody watches a tournament, so that it is worth putting together how it stands."""
    return group_is_heard(tournament_group(tournament_id))


def tournament_changed(tournament_id: int, whole: TournamentState, private: list[PrivateEntry]) -> None:
    """Tell a tournament's page how it stands: each socket tells its reader what they may know of it."""
    group_tell(tournament_group(tournament_id), {"type": "tournament.state", "whole": whole, "private": private})


def bead_drawn(machine: Machine, drawn: dict[str, object]) -> None:
    """Tell a machine's page which bead was drawn in a live match."""
    _machine_tell(machine, [], {"boxes": [], "drawn": drawn, "totals": None, "lesson": machine.n_lessons})


def audience_changed(machine: Machine) -> None:
    """Tell a machine's page no news, but who may look from now on: the socket of anybody else closes."""
    _machine_tell(machine, [], {"boxes": [], "drawn": None, "totals": None, "lesson": machine.n_lessons})


def boxes_changed(machine: Machine, boxes: list[BoxNews], lessons: list[int]) -> bool:
    """Tell a machine's page what these boxes hold since these lessons, and its totals after the last of them.

    Each lesson is told, with the boxes that it changed or without any, so that a page notices one that it has missed.
    Whether it could be told: who gathers changes tells them again with the next ones.
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
    """Two pieces of news as one, whichever came first: of each box, and of the totals, what the later lesson left."""
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
