"""What machines that learn a value of positions knew after each lesson, for the staff."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.admin.base import Large, ReadOnly, WithRowFilter
from learning.kinds.admin import MachineFilter, OfMachine, cause_link
from learning.models import Weights


@admin.register(Weights)
class WeightsAdmin(OfMachine, ReadOnly, WithRowFilter, Large):
    """By machine, newest first: from how many games it had learnt, and what taught it. A weight alone says nothing."""

    list_display = ("id", "machine_page", "n_learnt", "cause")
    list_select_related = ("machine", "lesson__match__room", "lesson__run")
    list_filter = (MachineFilter,)
    indexed = (MachineFilter.parameter_name,)
    fields = ("machine", "n_learnt", "cause")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Weights]:
        """Without the weights."""
        return super().get_queryset(request).defer("weights", "average")

    @admin.display(description="cause")
    def cause(self, row: Weights) -> str:
        """The match or the run."""
        return "its beginning" if row.lesson is None else cause_link(row.lesson)
