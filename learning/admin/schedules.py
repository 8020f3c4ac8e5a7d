"""Training schedules in the admin."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

from beadbox.policies.registry import OPPONENTS
from games.accounts.principal import AnyUser
from games.admin.base import AccountFilter, CappedListAdmin, ChoiceFilter, WithRowFilter, log_each
from games.exceptions import PlayError
from learning.kinds.admin import MachineFilter, MachineLinkAdmin, page_link
from learning.models import Schedule
from learning.selectors.schedules import crontab_text, next_runs, timezone_of, timing_sentence
from learning.services import runs as services_runs
from learning.services import schedules as services_schedules
from learning.services.runs import MAX_STAGES
from learning.services.schedules import PERIODS, Timing

EMPTY_STAGES = 2
"""Number of empty lines that the form shows after the filled lines."""


class StagesWidget(forms.Widget):
    """A widget with a line of fields for each stage, followed by empty lines."""

    template_name = "admin/stages.html"

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[dict[str, Any]]:
        """Return the submitted lines, :data:`MAX_STAGES` of them, unchecked."""
        return [
            {
                "opponent": data.get(f"{name}-{number}-opponent", "").strip(),
                "games": data.get(f"{name}-{number}-games", "").strip(),
                "learns": f"{name}-{number}-learns" in data,
            }
            for number in range(MAX_STAGES)
        ]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        """Return whether the submitted form had no lines for stages."""
        return f"{name}-0-opponent" not in data

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        """Render the lines by a template of the site, which the default form renderer does not find."""
        return mark_safe(get_template(self.template_name).render(self.get_context(name, value, attrs)))  # noqa: S308 - the template escapes its values

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """Add the lines of stages and the opponents that need no machine."""
        filled = [stage for stage in value or [] if stage["opponent"] or stage["games"]]
        lines = [*filled, *[{}] * EMPTY_STAGES][:MAX_STAGES]
        return {**super().get_context(name, value, attrs), "lines": lines, "opponents": list(OPPONENTS)}


class StagesField(forms.Field):
    """The stages of a run in order, as dictionaries with the keys opponent, games and learns."""

    widget = StagesWidget

    def clean(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the filled lines, with ``games`` as a number.

        Raises:
            ValidationError: no line is filled, or a filled line lacks an opponent or a valid number of games.
        """
        stages = [
            self._stage(number, line) for number, line in enumerate(value, 1) if line["opponent"] or line["games"]
        ]
        if not stages:
            raise forms.ValidationError("Give at least one opponent.", code="required")
        return stages

    @staticmethod
    def _stage(number: int, line: dict[str, Any]) -> dict[str, Any]:
        if not line["opponent"]:
            raise forms.ValidationError(f"Line {number}: the opponent is missing.")
        games = line["games"].replace(",", "")
        if not (games.isascii() and games.isdigit() and len(games) < 19):
            raise forms.ValidationError(f"Line {number}: give the number of games, such as 1000.")
        return {**line, "games": int(games)}

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether the submitted stages differ from the initial ones."""
        try:
            return bool(self.clean(data) != initial)
        except forms.ValidationError:
            return True


class ScheduleForm(forms.ModelForm):
    """The form of a schedule. It saves through the services, and shows their refusals as errors."""

    stages = StagesField(
        label="Opponents",
        help_text="They are played in this order. An opponent is a player of the list, or the ID or slug of a machine.",
    )
    crontab = forms.CharField(
        label="Cron expression",
        required=False,
        help_text="Minute, hour, day of month (L: the last), month, day of week. Leave it empty for an interval.",
    )
    timezone = forms.CharField(
        label="Time zone", required=False, help_text="For the cron expression, such as Europe/London."
    )
    every = forms.IntegerField(
        label="Interval",
        required=False,
        min_value=1,
        help_text="A number of the period below. Leave it empty for a cron expression.",
    )
    period = forms.ChoiceField(label="Period of the interval", choices=[(period, period) for period in PERIODS])
    paused = forms.BooleanField(required=False, help_text="A paused schedule starts no run. Missed runs are skipped.")

    class Meta:
        model = Schedule
        fields = ("machine", "stages", "seed")

    user: AnyUser | None = None
    """The viewer, set by :meth:`ScheduleAdmin.get_form`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            task = self.instance.task
            self.initial.update(crontab=crontab_text(task), timezone=timezone_of(task), paused=not task.enabled)
            if task.interval:
                self.initial.update(every=task.interval.every, period=task.interval.period)

    def clean(self) -> dict[str, Any]:
        """Validate by saving through the service in a transaction that is rolled back."""
        super().clean()
        if not self.errors:
            try:
                with transaction.atomic():
                    self.store()
                    transaction.set_rollback(True)
            except PlayError as error:
                self.add_error(None, str(error))
        return self.cleaned_data

    def store(self) -> Schedule:
        """Create or update the schedule through its service."""
        data = self.cleaned_data
        stages = [services_runs.Stage(stage["opponent"], stage["games"], stage["learns"]) for stage in data["stages"]]
        zone = (data["crontab"] and data["timezone"]) or None
        timing = Timing(crontab=data["crontab"], every=data["every"], period=data["period"], timezone=zone)
        if self.instance.pk:
            return services_schedules.schedule_update(
                user=cast("AnyUser", self.user),
                schedule_id=self.instance.pk,
                stages=stages,
                timing=timing,
                seed=data["seed"],
                fresh_seed=data["seed"] is None,
                paused=data["paused"],
            )
        return services_schedules.schedule_create(
            user=cast("AnyUser", self.user),
            machine=str(data["machine"].pk),
            stages=stages,
            timing=timing,
            seed=data["seed"],
            paused=data["paused"],
        )


class ActiveFilter(ChoiceFilter):
    """Filter for active or paused schedules."""

    title, parameter_name, field = "state", "task__enabled", "task__enabled"

    def valid_values(self) -> list[tuple[str, str]]:
        """Return the two states of a schedule."""
        return [("True", "active"), ("False", "paused")]


class ScheduleOwnerFilter(AccountFilter):
    """Filter by the account that owns the schedule."""

    field = "owner_id"


@admin.register(Schedule)
class ScheduleAdmin(MachineLinkAdmin, WithRowFilter, CappedListAdmin):
    """Training schedules. All writes go through the services, which notify Celery beat."""

    form = ScheduleForm
    list_display = ("id", "machine_page", "owner_page", "when", "is_active", "next_at", "n_fired", "last_page", "note")
    list_filter = (MachineFilter, ActiveFilter, ScheduleOwnerFilter)
    list_select_related = ("machine", "owner", "last_run", "task__crontab", "task__interval")
    fields = (
        "machine",
        "stages",
        "crontab",
        "timezone",
        "every",
        "period",
        "seed",
        "paused",
        "coming",
        "last_run",
        "note",
    )
    readonly_fields = ("coming", "last_run", "note")
    autocomplete_fields = ("machine",)
    actions = ("pause", "resume")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """Return the read-only fields; the machine is one of them once the schedule exists."""
        return self.readonly_fields if obj is None else ("machine", *self.readonly_fields)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return a form class with the viewer as its ``user``."""
        return type("ScheduleForm", (super().get_form(request, obj, change, **kwargs),), {"user": request.user})

    def save_model(self, request: HttpRequest, obj: Schedule, form: Any, change: bool) -> None:
        """Save the schedule through its service."""
        obj.pk = form.store().pk
        obj.refresh_from_db()

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        """Delete through the service, which also deletes the periodic task."""
        services_schedules.schedule_delete(user=request.user, schedule_id=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Delete each schedule through the service."""
        for schedule in queryset:
            self.delete_model(request, schedule)

    @admin.display(description="owner")
    def owner_page(self, schedule: Schedule) -> str:
        """Return a link to the account that owns the schedule."""
        return page_link(schedule.owner)

    @admin.display(description="last run")
    def last_page(self, schedule: Schedule) -> str:
        """Return a link to the latest run of the schedule."""
        return page_link(schedule.last_run)

    @admin.display(description="when")
    def when(self, schedule: Schedule) -> str:
        """Return the timing of the schedule as a sentence."""
        return timing_sentence(schedule.task)

    @admin.display(description="active", boolean=True)
    def is_active(self, schedule: Schedule) -> bool:
        return bool(schedule.task.enabled)

    @admin.display(description="next runs (UTC)")
    def coming(self, schedule: Schedule) -> str:
        """Return the times of the next five runs; a dash for a new schedule."""
        return ", ".join(f"{moment:%a %d %b %Y %H:%M}" for moment in next_runs(schedule)) if schedule.pk else "–"

    @admin.action(description="Pause the selected schedules", permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Pause each schedule: it starts no run until it is resumed."""
        self._set_paused(request, queryset, paused=True)

    @admin.action(description="Resume the selected schedules", permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Resume each schedule; the runs missed during the pause are skipped."""
        self._set_paused(request, queryset, paused=False)

    def _set_paused(self, request: HttpRequest, queryset: QuerySet[Schedule], *, paused: bool) -> None:
        schedules = list(queryset)
        for schedule in schedules:
            services_schedules.schedule_update(user=request.user, schedule_id=schedule.pk, paused=paused)
        log_each(request, schedules, "Paused." if paused else "Resumed.")
