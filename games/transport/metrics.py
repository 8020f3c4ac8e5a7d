"""What is counted of live play; ``docs/operating.md`` says what each figure is for.

An observation is two or three microseconds: it goes into a file that all processes of a machine share.
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
    # There from the beginning: what is asked for is how much a figure has grown, and the first one would be missing.
    REFUSALS.labels(_where, "busy")
