"""What machines were on the way through their trainings, and what each of these was worth, for the staff."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.admin.base import Large, ReadOnly, WithRowFilter
from learning.kinds.admin import MachineFilter, OfMachine
from learning.models import Snapshot


@admin.register(Snapshot)
class SnapshotAdmin(OfMachine, ReadOnly, WithRowFilter, Large):
    """By machine, newest first: after how many games, what it made of its opponents, and which one plays."""

    list_display = (
        "id",
        "machine_page",
        "run",
        "n_trained",
        "n_left",
        "n_lessons",
        "points",
        "plays_since",
        "is_by_hand",
    )
    list_select_related = ("machine", "run__machine")
    list_filter = (MachineFilter,)
    indexed = (MachineFilter.parameter_name,)
    fields = ("machine", *list_display[2:], "games_done", "epsilon")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Snapshot]:
        """With what was measured."""
        return super().get_queryset(request).prefetch_related("measurements")

    @admin.display(description="points")
    def points(self, row: Snapshot) -> str:
        """Of a hundred, against each opponent and from each set of openings."""
        found = sorted(row.measurements.all(), key=lambda one: (one.openings, one.level))
        told = (f"{one.level} {100 * one.points.share:.0f} of {one.points.games} games" for one in found)
        return ", ".join(told) or "not measured"
