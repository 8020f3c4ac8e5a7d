"""Boxes in the admin. Beads are history, so the pages are read-only."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, Q, QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from games.admin.base import (
    BoardMedia,
    ChoiceFilter,
    LargeTableAdmin,
    ReadOnly,
    WithRowFilter,
    board_html,
)
from learning.access import row_id
from learning.kinds.admin import LATEST_CHANGES, MachineFilter, MachineLinkAdmin, cause_link
from learning.kinds.boxes.look import box_history, slots_view
from learning.models import AnyBox, Box, Machine

MAX_OFFERED_MOVES = 9
"""Largest move number among the choices of the move filter."""


class VisitedFilter(admin.SimpleListFilter):
    """Filter by whether a game that was learnt from has opened the box."""

    title = "visited"
    parameter_name = "visited"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "yes"), ("no", "no")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AnyBox]) -> QuerySet[AnyBox]:
        """Keep the boxes with a bead drawn in a game that was learnt from, or the other boxes."""
        # Numbers of draws are never negative, so a box without draws has only zeros.
        unvisited = Q(visits__contained_by=[0])
        if self.value() == "yes":
            return queryset.exclude(unvisited)
        return queryset.filter(unvisited) if self.value() == "no" else queryset


class MoveFilter(ChoiceFilter):
    """Filter by the number of the machine's move; its first move is 1."""

    title, parameter_name, field = "move", "move_number", "move_number"

    def valid_values(self) -> list[tuple[str, str]]:
        """Return the first :data:`MAX_OFFERED_MOVES` numbers; a URL may ask for any number."""
        return [(str(number), str(number)) for number in range(1, MAX_OFFERED_MOVES + 1)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AnyBox]) -> QuerySet[AnyBox]:
        """Keep the boxes of the requested move; no boxes if the value is not a number."""
        if self.value() is not None and row_id(self.value() or "") is None:
            return queryset.none()
        return super().queryset(request, queryset)


class BoxList(ChangeList):
    """A list of boxes. A shared box has no row of its own, so its line links to its page on the site."""

    def url_for_result(self, result: Model) -> str:
        """Return the URL to which the line of a box links."""
        if isinstance(result, AnyBox) and result.pk is None:
            return result.get_absolute_url()
        return super().url_for_result(result)


@admin.register(Box)
class BoxAdmin(MachineLinkAdmin, ReadOnly, WithRowFilter, LargeTableAdmin):
    """Boxes: the position as a drawing, the beads as bars.

    The list of one machine has all its boxes, shared ones included. The list of all machines has only boxes with a row
    of their own, newest first.
    """

    list_display = ("board", "machine_page", "move_number", "bars")
    list_display_links = ("board",)
    list_filter = (MachineFilter, VisitedFilter, MoveFilter)
    list_select_related = ("machine",)
    search_fields = ("position__exact",)
    indexed_parameters = (MachineFilter.parameter_name,)
    fields = ("machine", "board", "ply", "move_number", "bars", "start", "beads", "visits", "latest_changes")
    readonly_fields = fields

    class Media(BoardMedia):
        """Scripts and styles that draw boards and bars."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the list class that links boxes without a row."""
        return BoxList

    def get_queryset(self, request: HttpRequest) -> QuerySet[AnyBox]:
        """Return all boxes of the requested machine, or the boxes of all machines that have rows of their own."""
        machine_id = row_id(request.GET.get(MachineFilter.parameter_name, ""))
        machine = None if machine_id is None else Machine.objects.filter(pk=machine_id).first()
        return super().get_queryset(request) if machine is None else machine.boxes.order_by("ply", "position")

    def get_ordering(self, request: HttpRequest) -> tuple[str | Combinable, ...]:
        """Sort the boxes of one machine in order of play, because shared boxes have no id; otherwise newest first."""
        machine_id = request.GET.get(MachineFilter.parameter_name)
        return ("ply", "position") if machine_id else tuple(super().get_ordering(request))

    @admin.display(description="position", ordering="position")
    def board(self, box: AnyBox) -> str:
        return board_html(box.machine.game, box.position)

    @admin.display(description=f"latest {LATEST_CHANGES} changes")
    def latest_changes(self, box: AnyBox) -> str:
        """Return the ledger of the box, newest first, each with its match or run."""
        rows = [
            (cause_link(change.lesson), change.deltas, change.after) for change in box_history(box)[:LATEST_CHANGES]
        ]
        return format_html(
            "<table><tr><th>cause</th><th>change</th><th>after</th></tr>{}</table>",
            format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", rows),
        )

    @admin.display(description="beads")
    def bars(self, box: AnyBox) -> str:
        """Return the beads of each slot as bars, followed by the numbers as text for screen readers."""
        cabinet = box.machine.cabinet
        slots = slots_view(cabinet, cabinet.game.decode(box.position))
        words = ", ".join(f"{slot['name']} {count}" for slot, count in zip(slots, box.beads, strict=True))
        return format_html(
            '<bead-bars data-beads="{}" data-slots="{}"></bead-bars> <span>{}</span>',
            json.dumps(box.beads),
            json.dumps(slots),
            words,
        )
