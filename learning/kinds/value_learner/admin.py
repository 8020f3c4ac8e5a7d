"""Weights of value learners after each lesson, in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.admin.base import LargeTableAdmin, ReadOnly, WithRowFilter
from learning.kinds.admin import MachineFilter, MachineLinkAdmin, cause_link
from learning.models import Weights


@admin.register(Weights)
class WeightsAdmin(MachineLinkAdmin, ReadOnly, WithRowFilter, LargeTableAdmin):
    """The list of lessons that changed weights, newest first. The weights are not shown."""

    list_display = ("id", "machine_page", "n_learnt", "cause")
    list_select_related = ("machine", "lesson__match__room", "lesson__run")
    list_filter = (MachineFilter,)
    indexed_parameters = (MachineFilter.parameter_name,)
    fields = ("machine", "n_learnt", "cause")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Weights]:
        """Return the rows without the weights, which the pages do not show."""
        return super().get_queryset(request).defer("weights", "average")

    @admin.display(description="cause")
    def cause(self, row: Weights) -> str:
        return "its beginning" if row.lesson is None else cause_link(row.lesson)
