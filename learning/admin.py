"""Machines, boxes and the ledger for the staff. Beads and lessons are history: nobody edits them by hand."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join

from games.admin import BoardMedia, ReadOnly, board_html
from games.exceptions import PlayError
from games.rules.romgon.pieces import side_of
from games.rules.romgon.rules import Position
from games.services import Person
from learning import services, services_experiments, services_schedules, services_tournaments
from learning.core.machines.q_learning import entry_read
from learning.models import (
    Box,
    ExperimentRun,
    Lesson,
    Machine,
    Pairing,
    RunStatus,
    Schedule,
    Tournament,
    TournamentEntry,
    TrainingRun,
    Value,
)
from learning.selectors import row_id
from learning.selectors_boxes import box_history, slots_view
from learning.selectors_schedules import crontab_text, next_runs, timing_sentence
from learning.selectors_tournaments import tournaments_counted
from learning.serializers import ScheduleStageSerializer
from learning.services_schedules import PERIODS, Timing

ACTION_GAMES = 10_000
"""What a run started from the list of machines plays; other runs are started from a machine's page."""

LATEST_CHANGES = 50
COUNTED_MOST = 10_000
"""So many values can be paged through; who wants others narrows the list."""
KEEPERS_SHOWN = 100


@admin.register(Machine)
class MachineAdmin(ReadOnly, admin.ModelAdmin):
    """Machines. What a person may set can be edited; rule, game, side and totals are history."""

    list_display = ("name", "slug", "game", "side", "preset", "owner", "learns", "n_games", "boxes_link")
    list_filter = ("game", "side", "preset", "learns", "is_public")
    list_select_related = ("owner",)
    search_fields = ("slug__exact", "name")
    fields = (
        *(
            "name",
            "description",
            "is_public",
            "learns",
            "slug",
            "game",
            "side",
            "preset",
            "rule",
            "owner",
            "copied_from",
        ),
        *("n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "created_at", "boxes_link"),
    )
    readonly_fields = fields[4:]
    show_full_result_count = False
    actions = ("train",)

    def has_train_permission(self, request: HttpRequest) -> bool:
        """Who may change machines may train them."""
        return request.user.has_perm("learning.change_machine")

    @admin.action(description=f"Train {ACTION_GAMES:,} games against a random player", permissions=["train"])
    def train(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Start a training run for each."""
        stages = [services.Stage("random", ACTION_GAMES)]
        for machine in queryset:
            try:
                services.training_run_request(user=request.user, machine=str(machine.pk), stages=stages)
            except PlayError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                self.message_user(request, f"The training of {machine.name} has been asked for.", messages.SUCCESS)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Name, description, publishing and freezing may be changed."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)

    def save_model(self, request: HttpRequest, obj: Machine, form: Any, change: bool) -> None:
        """Through the service: the form's copy of the row is as old as the page it came from."""
        services.machine_update(
            user=request.user, machine_id=obj.pk, **{field: getattr(obj, field) for field in form.changed_data}
        )

    @admin.display(description="memory")
    def boxes_link(self, machine: Machine) -> str:
        """The machine's boxes, or its values."""
        if machine.keeps_values:
            url = f"{reverse('admin:learning_value_changelist')}?machine={machine.pk}"
            return format_html('<a href="{}">values</a>', url)
        url = f"{reverse('admin:learning_box_changelist')}?machine__id__exact={machine.pk}"
        return format_html('<a href="{}">boxes</a>', url)


def _cause_link(lesson: Lesson) -> str:
    """A lesson's match or run, linked."""
    if lesson.match is not None:
        url = reverse("admin:games_match_change", args=[lesson.match.pk])
        return format_html('{}: <a href="{}">match {}</a>', lesson.get_kind_display(), url, lesson.match)
    if lesson.run is None:  # it was another machine's, and went with it
        return lesson.get_kind_display()
    url = reverse("admin:learning_trainingrun_change", args=[lesson.run_id])
    return format_html('{}: <a href="{}">{}</a>', lesson.get_kind_display(), url, lesson.run)


class VisitedFilter(admin.SimpleListFilter):
    """Boxes that a learning game has opened, or not."""

    title = "visited"
    parameter_name = "visited"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Yes and no."""
        return [("yes", "yes"), ("no", "no")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Box]) -> QuerySet[Box]:
        """Any slot drawn at least once."""
        # Draws are never negative, so a box was visited when some slot is not 0.
        never = Q(draws__contained_by=[0])
        if self.value() == "yes":
            return queryset.exclude(never)
        return queryset.filter(never) if self.value() == "no" else queryset


@admin.register(Box)
class BoxAdmin(ReadOnly, admin.ModelAdmin):
    """Boxes: the position drawn, the beads as bars."""

    list_display = ("board", "machine", "move_number", "bars")
    list_display_links = ("board",)
    list_filter = (VisitedFilter, "move_number", ("machine", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("machine",)
    search_fields = ("position__exact",)
    fields = ("machine", "board", "ply", "move_number", "bars", "start", "beads", "draws", "latest_changes")
    readonly_fields = fields
    list_per_page = 50
    show_full_result_count = False

    class Media(BoardMedia):
        """Boards and bars."""

    @admin.display(description="position", ordering="position")
    def board(self, box: Box) -> str:
        """The position, drawn."""
        return board_html(box.machine.game, box.position)

    @admin.display(description=f"latest {LATEST_CHANGES} changes")
    def latest_changes(self, box: Box) -> str:
        """The ledger of the box, newest first, each with its match or run."""
        rows = [
            (_cause_link(change.lesson), change.deltas, change.after) for change in box_history(box)[:LATEST_CHANGES]
        ]
        return format_html(
            "<table><tr><th>cause</th><th>change</th><th>after</th></tr>{}</table>",
            format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", rows),
        )

    @admin.display(description="beads")
    def bars(self, box: Box) -> str:
        """The beads of each slot as bars, with their numbers for those who cannot see them."""
        cabinet = box.machine.cabinet
        slots = slots_view(cabinet, cabinet.game.decode(box.position))
        words = ", ".join(f"{slot['name']} {count}" for slot, count in zip(slots, box.beads, strict=True))
        return format_html(
            '<bead-bars data-beads="{}" data-slots="{}"></bead-bars> <span>{}</span>',
            json.dumps(box.beads),
            json.dumps(slots),
            words,
        )


class CappedPaginator(Paginator):
    """Pages of the first :data:`COUNTED_MOST` rows, without counting the others, which may be millions."""

    @cached_property
    def count(self) -> int:
        """How many rows there are to page through."""
        rows: Any = self.object_list
        return int(rows[:COUNTED_MOST].count())


class KeeperFilter(admin.SimpleListFilter):
    """Machines that keep values; found by what they are, not by going through their values."""

    title = "machine"
    parameter_name = "machine"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        """The latest of them."""
        keepers = Machine.objects.filter(side__isnull=True).order_by("-pk").values_list("pk", "name")
        return [(pk, f"{name} ({pk})") for pk, name in keepers[:KEEPERS_SHOWN]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Value]) -> QuerySet[Value]:
        """Its values."""
        chosen = self.value()
        if chosen is None:
            return queryset
        pk = row_id(chosen)
        return queryset.none() if pk is None else queryset.filter(machine=pk)


@admin.register(Value)
class ValueAdmin(ReadOnly, admin.ModelAdmin):
    """Values of machines that keep them: by machine and by how the key begins."""

    list_display = ("key", "machine", "value", "start", "n_visits")
    list_filter = (KeeperFilter,)
    list_select_related = ("machine",)
    ordering = ("machine", "key")
    sortable_by = ()
    search_fields = ("key__startswith",)
    search_help_text = (
        f"How the key begins, such as 0-0-1-1#. Choose a machine first. {COUNTED_MOST:,} are shown at most."
    )
    fields = ("machine", "key", "board", "value", "start", "n_visits", "latest_changes")
    readonly_fields = fields
    list_per_page = 50
    paginator = CappedPaginator
    show_full_result_count = False

    class Media(BoardMedia):
        """Boards."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Value], search_term: str
    ) -> tuple[QuerySet[Value], bool]:
        """Of one machine only: a search through all of them would read every row that there is."""
        if search_term and KeeperFilter.parameter_name not in request.GET:
            self.message_user(request, "Choose a machine, then search its values.", messages.WARNING)
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="position")
    def board(self, entry: Value) -> str:
        """The board of the entry, drawn."""
        board, move = entry_read(entry.key)
        position = Position(board, side_of(board[move.origin]))
        return board_html(entry.machine.game, entry.machine.rules.encode(position))

    @admin.display(description=f"latest {LATEST_CHANGES} changes")
    def latest_changes(self, entry: Value) -> str:
        """The ledger of the value, newest first, each with its match or run."""
        changes = entry.changes.select_related("lesson__match__room", "lesson__run").order_by("-pk")
        rows = [(_cause_link(change.lesson), change.before, change.after) for change in changes[:LATEST_CHANGES]]
        return format_html(
            "<table><tr><th>cause</th><th>before</th><th>after</th></tr>{}</table>",
            format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", rows),
        )


@admin.register(Lesson)
class LessonAdmin(ReadOnly, admin.ModelAdmin):
    """The ledger: what taught whom, and when."""

    readonly_fields = ("value_changes",)

    list_display = ("number", "machine", "kind", "match", "run", "n_wins", "n_draws", "n_losses", "created_at")
    list_filter = ("kind", ("machine", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("machine", "match__room", "run")
    show_full_result_count = False

    @admin.display(description=f"first {LATEST_CHANGES} changes of values")
    def value_changes(self, lesson: Lesson) -> str:
        """Of a machine that keeps values, in the order in which they were learnt, each with its entry."""
        changes = lesson.value_changes.select_related("entry").order_by("pk")[:LATEST_CHANGES]
        rows = [
            (reverse("admin:learning_value_change", args=[one.entry_id]), one.entry.key, one.before, one.after)
            for one in changes
        ]
        return format_html(
            "<table><tr><th>value</th><th>before</th><th>after</th></tr>{}</table>",
            format_html_join("", '<tr><td><a href="{}">{}</a></td><td>{}</td><td>{}</td></tr>', rows),
        )


@admin.register(TrainingRun)
class TrainingRunAdmin(ReadOnly, admin.ModelAdmin):
    """Training runs and how far they are; those that go on can be stopped."""

    list_display = ("machine", "status", "progress", "n_games", "seed", "started_by", "created_at")
    list_filter = ("status",)
    list_select_related = ("machine", "started_by")
    show_full_result_count = False
    actions = ("cancel",)

    def has_train_permission(self, request: HttpRequest) -> bool:
        """Who may change machines may stop their training."""
        return request.user.has_perm("learning.change_machine")

    @admin.display(description="done")
    def progress(self, run: TrainingRun) -> str:
        """How far it is, as a bar and in words."""
        share = 100 * run.games_done // run.n_games
        return format_html('<progress max="100" value="{}"></progress> {} %', share, share)

    @admin.action(description="Stop the selected runs", permissions=["train"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[TrainingRun]) -> None:
        """Ask each run to stop."""
        stopped = [services.training_run_stop(user=request.user, run_id=run.pk) for run in queryset]
        self.message_user(request, f"{sum(stopped)} of {len(stopped)} were asked to stop; the others were over.")


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
            self.add_error("stages", f"Each is an object of opponent, games and learns: {stages.errors}")
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
        stages = [services.Stage(stage["opponent"], stage["games"], stage["learns"]) for stage in data["stages"]]
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
class ScheduleAdmin(admin.ModelAdmin):
    """Training that starts by itself. Everything is written by the services, so beat hears of it."""

    form = ScheduleForm
    list_display = ("machine", "owner", "when", "goes_on", "next_at", "n_fired", "last_run", "note")
    list_filter = ("task__enabled", ("machine", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("machine", "owner", "last_run", "task__crontab", "task__interval")
    fields = ("machine", "stages", "crontab", "every", "period", "seed", "paused", "coming", "last_run", "note")
    readonly_fields = ("coming", "last_run", "note")
    raw_id_fields = ("machine",)
    actions = ("pause", "resume")
    show_full_result_count = False

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
        for schedule in queryset:
            services_schedules.schedule_update(user=request.user, schedule_id=schedule.pk, paused=paused)


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


class EntryInline(ReadOnly, admin.TabularInline):
    """Who takes part."""

    model = TournamentEntry
    fields = ("number", "name", "opponent", "machine", "side")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[TournamentEntry]:
        """Without the beads, which can be many."""
        return super().get_queryset(request).select_related("machine").defer("beads", "rule")


class PairingInline(ReadOnly, admin.TabularInline):
    """Pairings and what came of them."""

    model = Pairing
    fields = ("number", "round", "first", "second", "status", "n_first_wins", "n_draws", "n_second_wins", "expected")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pairing]:
        """With the names of the two."""
        deferred = [f"{side}__{field}" for side in ("first", "second") for field in ("beads", "rule")]
        return super().get_queryset(request).select_related("first", "second").defer(*deferred)


@admin.register(Tournament)
class TournamentAdmin(ReadOnly, admin.ModelAdmin):
    """Tournaments: how far they are; those that go on can be called off."""

    list_display = ("name", "game", "format", "status", "progress", "owner", "is_public", "created_at")
    list_filter = ("status", "format", "game")
    list_select_related = ("owner",)
    inlines = (EntryInline, PairingInline)
    actions = ("call_off",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tournament]:
        """With how many pairings are done."""
        return tournaments_counted(super().get_queryset(request))

    def has_hold_permission(self, request: HttpRequest) -> bool:
        """Who may change tournaments may call them off."""
        return request.user.has_perm("learning.change_tournament")

    @admin.display(description="played")
    def progress(self, tournament: Any) -> str:
        """Pairings done, as a bar and in words."""
        done, total = tournament.n_done, max(1, tournament.n_pairings)
        return format_html('<progress max="{}" value="{}"></progress> {} of {}', total, done, done, total)

    @admin.action(description="Call the selected tournaments off", permissions=["hold"])
    def call_off(self, request: HttpRequest, queryset: QuerySet[Tournament]) -> None:
        """What has been played stays."""
        going_on = list(queryset.filter(status=RunStatus.RUNNING).values_list("pk", flat=True))
        for tournament_id in going_on:
            services_tournaments.tournament_cancel(user=request.user, tournament_id=tournament_id)
        self.message_user(request, f"{len(going_on)} were called off; the others were over.")
