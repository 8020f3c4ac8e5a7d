"""Runs of experiments in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from beadbox.experiments.registry import EXPERIMENTS
from games.accounts.principal import Principal
from games.admin.base import ChoiceFilter, LargeTableAdmin, ReadOnly, log_each
from learning.models import ExperimentRun
from learning.services import experiments as services_experiments


class ExperimentFilter(ChoiceFilter):
    """Filter by the experiment of a run."""

    title = parameter_name = field = "experiment"

    def valid_values(self) -> list[tuple[str, str]]:
        return [(slug, slug) for slug in sorted(EXPERIMENTS)]


@admin.register(ExperimentRun)
class ExperimentRunAdmin(ReadOnly, LargeTableAdmin):
    """Runs of experiments: read-only, but active runs can be stopped."""

    list_display = ("experiment", "seed", "parameters", "status", "progress", "user", "created_at")
    list_filter = (ExperimentFilter, "status")
    indexed_parameters = ("status__exact",)
    list_select_related = ("user",)
    actions = ("stop",)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Return whether the viewer may change runs, which includes stopping them."""
        return request.user.has_perm("learning.change_experimentrun")

    @admin.action(description="Stop the selected experiments", permissions=["cancel"])
    def stop(self, request: HttpRequest, queryset: QuerySet[ExperimentRun]) -> None:
        """Stop the active runs among the selected ones. A stopped experiment can be requested again."""
        active = list(queryset.filter(status__in=services_experiments.ACTIVE_STATUSES))
        for run in active:
            services_experiments.experiment_cancel(person=Principal(), run_id=run.pk, is_staff=True)
        log_each(request, active, "Stopped.")
        self.message_user(request, f"Stopped: {len(active)}. The others were over.")
