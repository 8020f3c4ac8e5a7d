"""Experiments for the staff."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from games.admin import ReadOnly
from games.services import Person
from learning.models import (
    ExperimentRun,
)
from learning.services import experiments as services_experiments


@admin.register(ExperimentRun)
class ExperimentRunAdmin(ReadOnly, admin.ModelAdmin):
    """Runs of experiments, for looking at; those that go on can be stopped."""

    list_display = ("experiment", "seed", "parameters", "status", "progress", "user", "created_at")
    list_filter = ("experiment", "status")
    list_select_related = ("user",)
    actions = ("stop",)
    show_full_result_count = False

    def has_hold_permission(self, request: HttpRequest) -> bool:
        """Who may change runs may stop them."""
        return request.user.has_perm("learning.change_experimentrun")

    @admin.action(description="Stop the selected experiments", permissions=["hold"])
    def stop(self, request: HttpRequest, queryset: QuerySet[ExperimentRun]) -> None:
        """They can be asked for again."""
        going_on = list(queryset.filter(status__in=services_experiments.GOING_ON).values_list("pk", flat=True))
        for run_id in going_on:
            services_experiments.experiment_cancel(person=Person(), run_id=run_id, is_staff=True)
        self.message_user(request, f"{len(going_on)} were stopped; the others were over.")
