"""Reads of a machine's snapshots and of their measurements."""

from __future__ import annotations

from typing import Any

from beadbox.policies.registry import OPPONENTS
from beadbox.seeds import seed_to_json
from beadbox.strength.snapshots import CHOICE_SEED, CONFIRMATION_SEED, OPENING_PLIES
from learning.exceptions import SnapshotNotFoundError
from learning.models import Machine, Measurement, Snapshot
from learning.states import MeasurementState, SnapshotState

MAX_SNAPSHOTS_SHOWN = 200
"""Maximum number of snapshots of a machine that are shown: the latest."""


def snapshots_view(machine: Machine) -> list[SnapshotState]:
    """Return the machine's latest snapshots, oldest first, each with its measurements; two queries."""
    latest = machine.snapshots.prefetch_related("measurements").order_by("-pk")[:MAX_SNAPSHOTS_SHOWN]
    return [_view(snapshot) for snapshot in reversed(latest)]


def snapshots_summary(machine: Machine) -> dict[str, object] | None:
    """Return the snapshots as the machine's page shows them: table, curve and chosen snapshot; ``None`` without any."""
    snapshots = snapshots_view(machine)
    if not snapshots:
        return None
    measures_by_snapshot = [
        {state["level"]: _measurement_row(state) for state in snapshot["measurements"] if not state["confirms"]}
        for snapshot in snapshots
    ]
    levels = list(dict.fromkeys(level for measures in measures_by_snapshot for level in measures))
    names = [OPPONENTS[level].name for level in levels]
    rows: list[dict[str, Any]] = [
        {**state, "cells": [measures.get(level) for level in levels]}
        for state, measures in zip(snapshots, measures_by_snapshot, strict=True)
    ]
    measured = [row for row in rows if all(row["cells"])] if levels else []
    n_games = {cell["games"] if cell else 0 for row in rows for cell in row["cells"]}
    lines = [
        {
            "name": f"Points against {_name_in_sentence(name)}",
            **{key: [row["cells"][column]["points"][key] for row in measured] for key in ("value", "low", "high")},
        }
        for column, name in enumerate(names)
    ]
    return {
        "levels": names,
        "rows": rows,
        "n_games": max(n_games, default=0),
        "is_even": len(n_games) == 1,
        "curve": {"games": [row["games"] for row in measured], "lines": lines},
        "playing": _chosen_row(machine),
        "n_plies": OPENING_PLIES,
        "chosen_on": CHOICE_SEED,
        "said_on": CONFIRMATION_SEED,
    }


def _chosen_row(machine: Machine) -> dict[str, Any] | None:
    """Return the snapshot that was chosen last; ``None`` if there is none.

    ``confirmed`` has the measurements that confirm the choice, and ``since`` the number of lessons since the choice.
    """
    chosen = machine.snapshots.prefetch_related("measurements").filter(plays_since__isnull=False).first()
    if chosen is None or chosen.plays_since is None:
        return None
    state = _view(chosen)
    confirmed = [_measurement_row(measurement) for measurement in state["measurements"] if measurement["confirms"]]
    return {**state, "confirmed": confirmed, "since": machine.n_lessons - chosen.plays_since}


def _measurement_row(measurement: MeasurementState) -> dict[str, Any]:
    """Return a measurement with the name of its opponent, and its points in 100 games as text."""
    points = measurement["points"]
    ends = {"value": points["value"], "low": points["low"], "high": points["high"]}
    hundred = {end: f"{100 * share:.0f}" for end, share in ends.items()}
    return {**measurement, "against": _name_in_sentence(OPPONENTS[measurement["level"]].name), "hundred": hundred}


def _name_in_sentence(name: str) -> str:
    """Return the name of an opponent as it is written within a sentence."""
    return f"the {name[0].lower()}{name[1:]}" if name.endswith("engine") else f"{name[0].lower()}{name[1:]}"


def snapshot_get(machine: Machine, snapshot_id: int) -> Snapshot:
    """Return the machine's snapshot with this id.

    Raises:
        SnapshotNotFoundError: the machine has no such snapshot.
    """
    snapshot = machine.snapshots.filter(pk=snapshot_id).first()
    if snapshot is None:
        raise SnapshotNotFoundError
    return snapshot


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
        "measurements": [
            _measurement_view(measurement)
            for measurement in sorted(snapshot.measurements.all(), key=lambda measurement: measurement.pk)
        ],
    }


def _measurement_view(measurement: Measurement) -> MeasurementState:
    points = measurement.points
    low, high = points.interval
    return {
        "level": measurement.level,
        "games": points.games,
        "wins": points.wins,
        "draws": points.draws,
        "losses": points.losses,
        "points": {"value": points.share, "low": low, "high": high},
        "openings": measurement.openings,
        "seed": seed_to_json(measurement.seed),
        "confirms": measurement.openings == CONFIRMATION_SEED,
    }
