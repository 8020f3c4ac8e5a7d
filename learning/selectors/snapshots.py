"""Reads of snapshots from a machine's trainings, and of their measurements."""

from __future__ import annotations

from typing import Any

from beadbox.policies.registry import OPPONENTS
from beadbox.seeds import seed_to_json
from beadbox.strength.snapshots import CHOSEN_ON, OPENING_PLIES, SAID_ON
from learning.exceptions import SnapshotNotFoundError
from learning.models import Machine, Measurement, Snapshot
from learning.states import MeasurementState, SnapshotState

SHOWN_MOST = 200
"""Latest snapshots of a machine that are shown."""


def snapshots_view(machine: Machine) -> list[SnapshotState]:
    """The machine's latest snapshots, oldest first, each with its measurements; two queries."""
    latest = machine.snapshots.prefetch_related("measurements").order_by("-pk")[:SHOWN_MOST]
    return [_view(one) for one in reversed(latest)]


def snapshots_summary(machine: Machine) -> dict[str, object] | None:
    """The snapshots for the machine's page: the table, the curve, and the chosen one; ``None`` if there are none."""
    found = snapshots_view(machine)
    if not found:
        return None
    by_level = [
        {one["level"]: _measurement_row(one) for one in snapshot["measurements"] if not one["confirms"]}
        for snapshot in found
    ]
    levels = list(dict.fromkeys(level for measures in by_level for level in measures))
    names = [OPPONENTS[level].name for level in levels]
    rows: list[dict[str, Any]] = [
        {**one, "cells": [measures.get(level) for level in levels]}
        for one, measures in zip(found, by_level, strict=True)
    ]
    measured = [row for row in rows if all(row["cells"])] if levels else []
    n_games = {cell["games"] if cell else 0 for row in rows for cell in row["cells"]}
    lines = [
        {
            "name": f"Points against {_within(name)}",
            **{key: [row["cells"][at]["points"][key] for row in measured] for key in ("value", "low", "high")},
        }
        for at, name in enumerate(names)
    ]
    return {
        "levels": names,
        "rows": rows,
        "n_games": max(n_games, default=0),
        "is_even": len(n_games) == 1,
        "curve": {"games": [row["games"] for row in measured], "lines": lines},
        "playing": _playing(machine),
        "n_plies": OPENING_PLIES,
        "chosen_on": CHOSEN_ON,
        "said_on": SAID_ON,
    }


def _playing(machine: Machine) -> dict[str, Any] | None:
    """The snapshot that was chosen last, with its confirmation, and the number of lessons since the choice."""
    chosen = machine.snapshots.prefetch_related("measurements").filter(plays_since__isnull=False).first()
    if chosen is None or chosen.plays_since is None:
        return None
    one = _view(chosen)
    confirmed = [_measurement_row(measure) for measure in one["measurements"] if measure["confirms"]]
    return {**one, "confirmed": confirmed, "since": machine.n_lessons - chosen.plays_since}


def _measurement_row(one: MeasurementState) -> dict[str, Any]:
    """A measurement with the name of its opponent, and its points out of a hundred as text."""
    points = one["points"]
    ends = {"value": points["value"], "low": points["low"], "high": points["high"]}
    hundred = {end: f"{100 * share:.0f}" for end, share in ends.items()}
    return {**one, "against": _within(OPPONENTS[one["level"]].name), "hundred": hundred}


def _within(name: str) -> str:
    """A name in the form that fits the middle of a sentence."""
    return f"the {name[0].lower()}{name[1:]}" if name.endswith("engine") else f"{name[0].lower()}{name[1:]}"


def snapshot_get(machine: Machine, snapshot_id: int) -> Snapshot:
    """The machine's snapshot with this id.

    Raises:
        SnapshotNotFoundError: it has none of this id.
    """
    found = machine.snapshots.filter(pk=snapshot_id).first()
    if found is None:
        raise SnapshotNotFoundError
    return found


def _view(snapshot: Snapshot) -> SnapshotState:
    return {
        "id": snapshot.pk,
        "training_run": snapshot.run_id,
        "games_of_run": snapshot.games_done,
        "games": snapshot.n_trained,
        "games_left_behind": snapshot.n_left,
        "lesson": snapshot.n_lessons,
        "plays": snapshot.plays_since is not None,
        "chosen_by_hand": snapshot.plays_since is not None and snapshot.is_by_hand,
        "measurements": [_measurement_view(one) for one in sorted(snapshot.measurements.all(), key=lambda one: one.pk)],
    }


def _measurement_view(one: Measurement) -> MeasurementState:
    points = one.points
    low, high = points.interval
    return {
        "level": one.level,
        "games": points.games,
        "wins": points.wins,
        "draws": points.draws,
        "losses": points.losses,
        "points": {"value": points.share, "low": low, "high": high},
        "openings": one.openings,
        "seed": seed_to_json(one.seed),
        "confirms": one.openings == SAID_ON,
    }
