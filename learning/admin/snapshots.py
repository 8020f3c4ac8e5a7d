"""Snapshots of machines during training, with their measured strength, in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.admin.base import LargeTableAdmin, ReadOnly, WithRowFilter
from learning.kinds.admin import MachineFilter, MachineLinkAdmin
from learning.models import Snapshot


@admin.register(Snapshot)
class SnapshotAdmin(MachineLinkAdmin, ReadOnly, WithRowFilter, LargeTableAdmin):
    """Snapshots, newest first: games trained, points against each opponent, and the snapshot that plays."""

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
    indexed_parameters = (MachineFilter.parameter_name,)
    fields = ("machine", *list_display[2:], "games_done", "epsilon")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Snapshot]:
        return super().get_queryset(request).prefetch_related("measurements")

    @admin.display(description="points")
    def points(self, row: Snapshot) -> str:
        """Return the points in 100 games against each opponent and from each set of openings."""
        rows = sorted(row.measurements.all(), key=lambda item: (item.openings, item.level))
        texts = (f"{item.level} {100 * item.points.share:.0f} of {item.points.games} games" for item in rows)
        return ", ".join(texts) or "not measured"
