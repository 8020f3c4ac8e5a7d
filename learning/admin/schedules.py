"""Schedules for the staff."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from games.admin.base import Counted, WithRowFilter, log_each
from games.exceptions import PlayError
from games.serializers import first_error
from learning.admin.base import MachineFilter
from learning.models import Schedule
from learning.selectors.schedules import crontab_text, next_runs, timing_sentence
from learning.serializers.schedules import ScheduleStageSerializer
from learning.services import runs as services_runs
from learning.services import schedules as services_schedules
from learning.services.schedules import PERIODS, Timing


class StagesDecoder(json.JSONDecoder):
    """JSON that can be kept and shown again: no depth that breaks the reader, no half characters."""

    def decode(self, s: str, *args: Any) -> Any:
        """What the text says."""
        try:
            data = super().decode(s, *args)
            json.dumps(data, ensure_ascii=False).encode()
        except (RecursionError, UnicodeEncodeError):
            raise json.JSONDecodeError("cannot be kept", s[:1], 0) from None
        return data


class ScheduleForm(forms.ModelForm):
    """A schedule as the services take it; what they refuse is said at the form."""

    stages = forms.JSONField(
        decoder=StagesDecoder, help_text='[{"opponent": "random", "games": 1000, "learns": false}]'
    )
    crontab = forms.CharField(
        required=False, help_text="Minute, hour, day of month, month, day of week; UTC. Or an interval:"
    )
    every = forms.IntegerField(required=False, min_value=1)
    period = forms.ChoiceField(choices=[(period, period) for period in PERIODS])
    paused = forms.BooleanField(required=False)

    class Meta:
        model = Schedule
        fields = ("machine", "stages", "seed")

    user: Any = None
    """Who is logged in; set by the admin."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            task = self.instance.task
            self.initial.update(crontab=crontab_text(task), paused=not task.enabled)
            if task.interval:
                self.initial.update(every=task.interval.every, period=task.interval.period)

    def clean(self) -> dict[str, Any]:
        """Try it and take it back: the services know best what cannot be."""
        super().clean()
        stages = ScheduleStageSerializer(data=self.cleaned_data.get("stages"), many=True)
        if "stages" in self.cleaned_data and not stages.is_valid():
            self.add_error("stages", f"Each is an object of opponent, games and learns. {first_error(stages.errors)}")
        if not self.errors:
            try:
                with transaction.atomic():
                    self.store()
                    transaction.set_rollback(True)
            except PlayError as error:
                self.add_error(None, str(error))
        return self.cleaned_data

    def store(self) -> Schedule:
        """Make or change the schedule through its service."""
        data = self.cleaned_data
        stages = [services_runs.Stage(stage["opponent"], stage["games"], stage["learns"]) for stage in data["stages"]]
        timing = Timing(crontab=data["crontab"], every=data["every"], period=data["period"])
        if self.instance.pk:
            return services_schedules.schedule_update(
                user=self.user,
                schedule_id=self.instance.pk,
                stages=stages,
                timing=timing,
                seed=data["seed"],
                fresh_seed=data["seed"] is None,
                paused=data["paused"],
            )
        return services_schedules.schedule_create(
            user=self.user,
            machine=str(data["machine"].pk),
            stages=stages,
            timing=timing,
            seed=data["seed"],
            paused=data["paused"],
        )


@admin.register(Schedule)
class ScheduleAdmin(WithRowFilter, Counted):
    """Training that starts by itself. Everything is written by the services, so beat hears of it."""

    form = ScheduleForm
    list_display = ("machine", "owner", "when", "goes_on", "next_at", "n_fired", "last_run", "note")
    list_filter = (MachineFilter, "task__enabled")
    list_select_related = ("machine", "owner", "last_run", "task__crontab", "task__interval")
    fields = ("machine", "stages", "crontab", "every", "period", "seed", "paused", "coming", "last_run", "note")
    readonly_fields = ("coming", "last_run", "note")
    autocomplete_fields = ("machine",)
    actions = ("pause", "resume")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """A schedule stays with its machine."""
        return self.readonly_fields if obj is None else ("machine", *self.readonly_fields)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The form, which knows who is logged in."""
        return type("ScheduleForm", (super().get_form(request, obj, change, **kwargs),), {"user": request.user})

    def save_model(self, request: HttpRequest, obj: Schedule, form: Any, change: bool) -> None:
        """By the service."""
        obj.pk = form.store().pk
        obj.refresh_from_db()

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        """By the service: its periodic task goes with it."""
        services_schedules.schedule_delete(user=request.user, schedule_id=obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """One after the other, by the service."""
        for schedule in queryset:
            self.delete_model(request, schedule)

    @admin.display(description="when")
    def when(self, schedule: Schedule) -> str:
        """In words."""
        return timing_sentence(schedule.task)

    @admin.display(description="goes on", boolean=True)
    def goes_on(self, schedule: Schedule) -> bool:
        """Not paused."""
        return bool(schedule.task.enabled)

    @admin.display(description="next runs (UTC)")
    def coming(self, schedule: Schedule) -> str:
        """The next five."""
        return ", ".join(f"{moment:%a %d %b %Y %H:%M}" for moment in next_runs(schedule)) if schedule.pk else "–"

    @admin.action(description="Pause the selected schedules", permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """Start no run until resumed."""
        self._set_paused(request, queryset, paused=True)

    @admin.action(description="Let the selected schedules go on", permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Schedule]) -> None:
        """What was missed is not made up for."""
        self._set_paused(request, queryset, paused=False)

    def _set_paused(self, request: HttpRequest, queryset: QuerySet[Schedule], *, paused: bool) -> None:
        schedules = list(queryset)
        for schedule in schedules:
            services_schedules.schedule_update(user=request.user, schedule_id=schedule.pk, paused=paused)
        log_each(request, schedules, "Paused." if paused else "Resumed.")
