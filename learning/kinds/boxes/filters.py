"""What the list of boxes can be narrowed and ordered by."""

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
    """The sum over an array, in the row itself."""

    template = "(SELECT coalesce(sum(n), 0) FROM unnest(%(expressions)s) AS n)"
    output_field = BigIntegerField()
    arity = 1


class Distance(Func):
    """By how many beads in all two arrays differ."""

    template = "(SELECT coalesce(sum(abs(a - b)), 0) FROM unnest(%(expressions)s) AS slot (a, b))"
    output_field = BigIntegerField()
    arity = 2


class BoxOrdering(Ordering):
    """An ordering in which no two boxes are equal, so that pages neither repeat nor leave out one."""

    def filter(self, qs: QuerySet[AnyBox], value: Sequence[str] | None) -> QuerySet[AnyBox]:
        """The boxes in this order, those that are equal in order of play."""
        columns = self.columns(value)
        computed = {
            "n_beads": Sum(F("beads")),
            "n_draws": Sum(F("visits")),
            "n_change": Distance(F("beads"), F("start")),
        }
        needed = {name: how for name, how in computed.items() if {name, f"-{name}"} & set(columns)}
        return qs.annotate(**needed).order_by(*columns, "ply", "position")


class BoxFilter(django_filters.FilterSet):
    """The boxes of one machine."""

    move_number = WholeFilter(help_text="The machine's own move number.")
    ply = WholeFilter()
    visited = django_filters.BooleanFilter(method="were_visited", help_text="Opened in a game that was learnt from.")
    removed = django_filters.BooleanFilter(method="have_removed", help_text="Some move has no bead left.")
    emptied = django_filters.BooleanFilter(method="are_empty", help_text="No move has a bead left.")
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
        """Draws are never negative, so a box was visited when some slot is not 0."""
        never = Q(visits__contained_by=[0])
        return queryset.exclude(never) if value else queryset.filter(never)

    def have_removed(self, queryset: QuerySet[AnyBox], name: str, value: bool) -> QuerySet[AnyBox]:
        """Those with an empty slot, or those without."""
        some = Q(beads__contains=[0])
        return queryset.filter(some) if value else queryset.exclude(some)

    def are_empty(self, queryset: QuerySet[AnyBox], name: str, value: bool) -> QuerySet[AnyBox]:
        """Those without any bead, or those with one."""
        empty = Q(beads__contained_by=[0])
        return queryset.filter(empty) if value else queryset.exclude(empty)

    def are_like(self, queryset: QuerySet[AnyBox], name: str, value: str) -> QuerySet[AnyBox]:
        """The box of a whole position; those whose text holds what is part of one."""
        cabinet = self.request.parser_context["view"].machine.cabinet
        try:
            position = cabinet.game.encode(cabinet.box_position(cabinet.game.decode(value)))
        except InvalidPositionError:
            return queryset.filter(position__icontains=value)
        return queryset.filter(position=position)
