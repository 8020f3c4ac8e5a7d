"""Machines, boxes and the ledger for the staff. Beads and lessons are history: nobody edits them by hand."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from games.admin import BoardMedia, ReadOnly, board_html
from learning.models import Box, Lesson, Machine, TrainingRun
from learning.selectors import box_history, slots_view
from learning.services import machine_update

LATEST_CHANGES = 50


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

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Name, description, publishing and freezing may be changed."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)

    def save_model(self, request: HttpRequest, obj: Machine, form: Any, change: bool) -> None:
        """Through the service: the form's copy of the row is as old as the page it came from."""
        machine_update(
            user=request.user, machine_id=obj.pk, **{field: getattr(obj, field) for field in form.changed_data}
        )

    @admin.display(description="boxes")
    def boxes_link(self, machine: Machine) -> str:
        """The machine's boxes."""
        url = f"{reverse('admin:learning_box_changelist')}?machine__id__exact={machine.pk}"
        return format_html('<a href="{}">boxes</a>', url)


def _cause_link(lesson: Lesson) -> str:
    """A lesson's match or run, linked."""
    if lesson.match is not None:
        url = reverse("admin:games_match_change", args=[lesson.match.pk])
        return format_html('{}: <a href="{}">match {}</a>', lesson.get_kind_display(), url, lesson.match)
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


@admin.register(Lesson)
class LessonAdmin(ReadOnly, admin.ModelAdmin):
    """The ledger: what taught whom, and when."""

    list_display = ("number", "machine", "kind", "match", "run", "n_wins", "n_draws", "n_losses", "created_at")
    list_filter = ("kind", ("machine", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("machine", "match__room", "run")
    show_full_result_count = False


@admin.register(TrainingRun)
class TrainingRunAdmin(ReadOnly, admin.ModelAdmin):
    """Training runs and how far they are."""

    list_display = ("machine", "status", "games_done", "n_games", "seed", "created_at")
    list_filter = ("status",)
    list_select_related = ("machine",)
    show_full_result_count = False
