"""Filters and orderings of the list of boxes in the API."""

from __future__ import annotations

from collections.abc import Sequence

import django_filters
from django.db.models import BigIntegerField, F, Func, Q, QuerySet

from beadbox.rules.errors import InvalidPositionError
from learning.kinds.filters import Ordering, WholeFilter
from learning.models import (
    AnyBox,
)


class Sum(Func):
    """SQL: the sum of the numbers in an array column."""

    template = "(SELECT coalesce(sum(n), 0) FROM unnest(%(expressions)s) AS n)"
    output_field = BigIntegerField()
    arity = 1


class Distance(Func):
    """SQL: the sum of the absolute differences between two arrays."""

    template = "(SELECT coalesce(sum(abs(a - b)), 0) FROM unnest(%(expressions)s) AS slot (a, b))"
    output_field = BigIntegerField()
    arity = 2


class BoxOrdering(Ordering):
    """A total ordering of boxes, so that pages neither repeat nor omit a box."""

    def filter(self, qs: QuerySet[AnyBox], value: Sequence[str] | None) -> QuerySet[AnyBox]:
        """Sort the boxes by the columns that ``value`` names. Boxes that tie are sorted by ply, then by position."""
        columns = self.columns(value)
        computed = {
            "n_beads": Sum(F("beads")),
            "n_draws": Sum(F("visits")),
            "n_change": Distance(F("beads"), F("start")),
        }
        annotations = {name: expression for name, expression in computed.items() if {name, f"-{name}"} & set(columns)}
        return qs.annotate(**annotations).order_by(*columns, "ply", "position")


class BoxFilter(django_filters.FilterSet):
    """Filters and orderings of the boxes of one machine."""

    move_number = WholeFilter(help_text="The machine's own move number.")
    ply = WholeFilter()
    visited = django_filters.BooleanFilter(
        method="were_visited", help_text="Only boxes that were opened in a game from which the machine learnt."
    )
    removed = django_filters.BooleanFilter(
        method="have_removed", help_text="Only boxes in which at least one move has no bead left."
    )
    emptied = django_filters.BooleanFilter(method="are_empty", help_text="Only boxes in which no move has a bead left.")
    search = django_filters.CharFilter(
        method="are_like", max_length=400, help_text="A position in any orientation, or a part of its text."
    )
    ordering = BoxOrdering(
        fields=[
            *(("n_beads", "beads"), ("n_draws", "draws"), ("n_change", "change")),
            *(("move_number", "move_number"), ("ply", "ply"), ("position", "position")),
        ],
        help_text="By beads, draws or change in all; with a minus the most first.",
    )

    class Meta:
        model = AnyBox
        fields: list[str] = []

    def were_visited(self, queryset: QuerySet[AnyBox], name: str, value: bool) -> QuerySet[AnyBox]:
        """Keep the boxes with a slot that was drawn if ``value`` is true, else the boxes without one."""
        unvisited = Q(visits__contained_by=[0])
        return queryset.exclude(unvisited) if value else queryset.filter(unvisited)

    def have_removed(self, queryset: QuerySet[AnyBox], name: str, value: bool) -> QuerySet[AnyBox]:
        """Keep the boxes with an empty slot if ``value`` is true, else the boxes without one."""
        has_empty_slot = Q(beads__contains=[0])
        return queryset.filter(has_empty_slot) if value else queryset.exclude(has_empty_slot)

    def are_empty(self, queryset: QuerySet[AnyBox], name: str, value: bool) -> QuerySet[AnyBox]:
        """Keep the boxes without beads if ``value`` is true, else the boxes with beads."""
        empty = Q(beads__contained_by=[0])
        return queryset.filter(empty) if value else queryset.exclude(empty)

    def are_like(self, queryset: QuerySet[AnyBox], name: str, value: str) -> QuerySet[AnyBox]:
        """Keep the box of a complete position; for other text, the boxes with this text in their position."""
        cabinet = self.request.parser_context["view"].machine.cabinet
        try:
            position = cabinet.game.encode(cabinet.box_position(cabinet.game.decode(value)))
        except InvalidPositionError:
            return queryset.filter(position__icontains=value)
        return queryset.filter(position=position)
