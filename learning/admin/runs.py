"""Lessons and training runs in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from games.admin.base import AccountFilter, LargeTableAdmin, ReadOnly, WithRowFilter, log_each
from learning.kinds.admin import LATEST_CHANGES, MachineFilter, MachineLinkAdmin, page_link
from learning.models import Lesson, TrainingRun
from learning.services import runs as services_runs


@admin.register(Lesson)
class LessonAdmin(MachineLinkAdmin, ReadOnly, WithRowFilter, LargeTableAdmin):
    """The ledger: the lessons of all machines, each with its match or run."""

    readonly_fields = ("value_changes",)

    list_display = ("number", "machine_page", "kind", "match", "run", "n_wins", "n_draws", "n_losses", "created_at")
    list_filter = (MachineFilter, "kind")
    list_select_related = ("machine", "match__room", "run")
    indexed_parameters = (MachineFilter.parameter_name,)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Order newest first; for one machine by lesson number, which has an index."""
        return ("-number",) if request.GET.get(MachineFilter.parameter_name) else ("-pk",)

    @admin.display(description=f"first {LATEST_CHANGES} changes of values")
    def value_changes(self, lesson: Lesson) -> str:
        """Return a table of the lesson's changes of values in learning order, each with a link to its entry."""
        changes = lesson.value_changes.select_related("entry").order_by("pk")[:LATEST_CHANGES]
        rows = [
            (
                reverse("admin:learning_value_change", args=[change.entry_id]),
                change.entry.key,
                change.before,
                change.after,
            )
            for change in changes
        ]
        return format_html(
            "<table><tr><th>value</th><th>before</th><th>after</th></tr>{}</table>",
            format_html_join("", '<tr><td><a href="{}">{}</a></td><td>{}</td><td>{}</td></tr>', rows),
        )


class StarterFilter(AccountFilter):
    """Filter by the account that requested the run."""

    field = "started_by_id"


@admin.register(TrainingRun)
class TrainingRunAdmin(MachineLinkAdmin, ReadOnly, WithRowFilter, LargeTableAdmin):
    """Training runs and their progress: read-only, but active runs can be stopped."""

    fields = (
        *("status", "machine", "seed", "n_games", "games_done", "n_wins", "n_draws", "n_losses"),
        *("started_by", "created_at", "started_at", "finished_at", "leased_by", "lease_until"),
        *("cancel_requested", "error", "last_lesson", "most_values", "n_left_out", "n_measured"),
    )
    readonly_fields = fields
    list_display = ("id", "machine_page", "status", "progress", "n_games", "seed", "account_page", "created_at")
    list_filter = (MachineFilter, "status", StarterFilter)
    list_select_related = ("machine", "started_by")
    indexed_parameters = (MachineFilter.parameter_name, "status__exact", StarterFilter.parameter_name)
    actions = ("cancel",)

    def has_train_permission(self, request: HttpRequest) -> bool:
        """Return whether the viewer may change machines, which includes stopping their training."""
        return request.user.has_perm("learning.change_machine")

    @admin.display(description="started by")
    def account_page(self, run: TrainingRun) -> str:
        """Return a link to the account that requested the run."""
        return page_link(run.started_by)

    @admin.display(description="done")
    def progress(self, run: TrainingRun) -> str:
        """Return the progress of the run as a bar and a percentage."""
        share = 100 * run.games_done // run.n_games
        return format_html('<progress max="100" value="{}"></progress> {} %', share, share)

    @admin.action(description="Stop the selected runs", permissions=["train"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[TrainingRun]) -> None:
        """Ask each unfinished run to stop."""
        runs = list(queryset)
        stopped = [run for run in runs if services_runs.training_run_stop(user=request.user, run_id=run.pk)]
        log_each(request, stopped, "Asked to stop.")
        self.message_user(request, f"Asked to stop: {len(stopped)} of {len(runs)}. The others were over.")
