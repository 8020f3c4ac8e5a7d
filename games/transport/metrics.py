"""Metrics of live play. ``docs/operating.md`` explains each metric.

An observation takes two or three microseconds. It goes into a file from which the metrics of the host are collected.
"""

from __future__ import annotations

from prometheus_client import Counter, Histogram

MOVE_SECONDS = Histogram(
    "beadbox_move_seconds",
    "From a player's move at the site to its answer, waiting for a thread included; refused ones are not in it",
    buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
)
PLIES = Counter("beadbox_plies", "Plies that were stored, those of automated players included")
MATCHES_BEGUN = Counter("beadbox_matches_begun", "Matches that were begun")
MATCHES_ENDED = Counter("beadbox_matches_ended", "Matches that have ended, by how", ["termination"])
REFUSALS = Counter("beadbox_refusals", "What was refused, by where it was asked and by code", ["where", "code"])

for _where in ("socket", "api", "ai"):
    # Create these counters at the start. Alerts compare increases, and a new counter would hide its first increase.
    REFUSALS.labels(_where, "busy")
