"""Machines, boxes and the ledger for the staff. Beads and lessons are history: nobody edits them by hand."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from games.admin import BoardMedia, ReadOnly, board_html
from games.exceptions import PlayError
from learning import services
from learning.models import Box, Change, Lesson, Machine, TrainingRun
from learning.selectors import slots_view

ACTION_GAMES = 10_000
"""What a run started from the list of machines plays; other runs are started from a machine's page."""


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
        *("n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "created_at", "boxes_link"),
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

    @admin.display(description="boxes")
    def boxes_link(self, machine: Machine) -> str:
        """The machine's boxes."""
        url = f"{reverse('admin:learning_box_changelist')}?machine__id__exact={machine.pk}"
        return format_html('<a href="{}">boxes</a>', url)


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


class ChangeInline(ReadOnly, admin.TabularInline):
    """The latest changes of a box."""

    model = Change
    fields = ("lesson", "ply", "deltas", "after")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Change]:
        """Newest first, with their causes."""
        return super().get_queryset(request).select_related("lesson__machine").order_by("-pk")


@admin.register(Box)
class BoxAdmin(ReadOnly, admin.ModelAdmin):
    """Boxes: the position drawn, the beads as bars."""

    list_display = ("board", "machine", "move_number", "bars")
    list_display_links = ("board",)
    list_filter = (VisitedFilter, "move_number", ("machine", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("machine",)
    search_fields = ("position__exact",)
    fields = ("machine", "board", "ply", "move_number", "bars", "start", "beads", "draws")
    readonly_fields = fields
    list_per_page = 50
    show_full_result_count = False

    class Media(BoardMedia):
        """Boards and bars."""

    @admin.display(description="position", ordering="position")
    def board(self, box: Box) -> str:
        """The position, drawn."""
        return board_html(box.machine.game, box.position)

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


@admin.register(Lesson)
class LessonAdmin(ReadOnly, admin.ModelAdmin):
    """The ledger: what taught whom, and when."""

    list_display = ("number", "machine", "kind", "match", "run", "n_wins", "n_draws", "n_losses", "created_at")
    list_filter = ("kind", ("machine", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("machine", "match__room", "run")
    show_full_result_count = False


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
