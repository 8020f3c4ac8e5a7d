"""Machines and boxes for the staff. Beads are history: nobody edits them by hand."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import DELETION
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from beadbox.learners.presets import ALL_PRESETS
from games.admin.base import (
    BoardMedia,
    Choices,
    Counted,
    GameFilter,
    Large,
    LinkedFilter,
    NameSearch,
    ReadOnly,
    RowFilter,
    WithRowFilter,
    board_html,
    links_html,
    log_each,
)
from games.exceptions import PlayError
from learning.access import row_id
from learning.admin.base import MachineFilter, OfMachine, cause_link, page_link
from learning.kinds.registry import kind_of
from learning.models import AnyBox, Box, Machine
from learning.selectors.boxes import box_history, slots_view
from learning.services import machines as services
from learning.services import runs as services_runs

ACTION_GAMES = 10_000
"""What a run started from the list of machines plays; other runs are started from a machine's page."""


MAX_AT_ONCE = 200
"""The most machines that one action freezes, hides or deletes; each is a transaction of its own."""
LATEST_CHANGES = 50
MOVES_OFFERED = 9


class PresetFilter(Choices):
    """By the preset that the rule was copied from."""

    title = parameter_name = field = "preset"

    def known(self) -> list[tuple[str, str]]:
        """Those that there are."""
        return [(slug, slug) for slug in sorted(ALL_PRESETS)]


class OwnerFilter(RowFilter):
    """By the account that it belongs to."""

    title = field = "owner"
    parameter_name = "owner__id__exact"


class GuestFilter(LinkedFilter):
    """By the guest that it belongs to."""

    title, parameter_name, words = "guest", "guest", "Of one guest"

    def narrowed(self, rows: QuerySet[Machine], value: str) -> QuerySet[Machine]:
        """The machines of the guest."""
        try:
            return rows.filter(guest=UUID(value))
        except ValueError:
            return rows.none()


@admin.register(Machine)
class MachineAdmin(NameSearch, ReadOnly, WithRowFilter, Counted):
    """Machines. What a person may set can be edited; rule, game, side and totals are history."""

    list_display = ("name", "owner_page", "is_public", "learns", "n_games", "see", "game", "side", "preset", "slug")
    list_filter = (GameFilter, "side", PresetFilter, "learns", "is_public", OwnerFilter, GuestFilter)
    list_select_related = ("owner",)
    search_fields = ("slug__exact", "search_name__contains")
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
            "rule_json",
            "owner",
            "copied_from",
            "shares",
        ),
        *("n_lessons", "n_games", "n_wins", "n_draws", "n_losses", "n_removed", "epsilon", "created_at", "see"),
    )
    readonly_fields = fields[4:]
    sortable_by = ()
    actions = ("train", "freeze", "unfreeze", "hide", "publish", "erase")

    def has_train_permission(self, request: HttpRequest) -> bool:
        """Who may change machines may train them."""
        return request.user.has_perm("learning.change_machine")

    @admin.action(description=f"Train {ACTION_GAMES:,} games against a random player", permissions=["train"])
    def train(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Start a training run for each."""
        stages = [services_runs.Stage("random", ACTION_GAMES)]
        trained = []
        for machine in queryset:
            try:
                services_runs.training_run_request(user=request.user, machine=str(machine.pk), stages=stages)
            except PlayError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                trained.append(machine)
                self.message_user(request, f"The training of {machine.name} has been asked for.", messages.SUCCESS)
        log_each(request, trained, f"Asked for a training of {ACTION_GAMES:,} games.")

    def has_erase_permission(self, request: HttpRequest) -> bool:
        """Whether the account may delete machines."""
        return request.user.has_perm("learning.delete_machine")

    @admin.action(description="Freeze the selected machines: they play, but do not learn", permissions=["change"])
    def freeze(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Let each play on as it is."""
        self._set(request, queryset, "Frozen.", learns=False)

    @admin.action(description="Let the selected machines learn again", permissions=["change"])
    def unfreeze(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Let each learn from its games."""
        self._set(request, queryset, "Learns again.", learns=True)

    @admin.action(description="Hide the selected machines: only their owners see them", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Take each from every public list."""
        self._set(request, queryset, "Hidden.", is_public=False)

    @admin.action(description="Make the selected machines public", permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Show each to everybody. A guest's machine stays private."""
        if n_guests := queryset.exclude(guest=None).count():
            words = f"Machines of guests stay private. You have chosen {n_guests:,} of them."
            self.message_user(request, words, messages.WARNING)
        self._set(request, queryset.filter(guest=None), "Published.", is_public=True)

    def _set(
        self,
        request: HttpRequest,
        queryset: QuerySet[Machine],
        message: str,
        *,
        learns: bool | None = None,
        is_public: bool | None = None,
    ) -> None:
        machines, changed = self._chosen(request, queryset), []
        for machine in machines:
            if (learns, is_public) in ((machine.learns, None), (None, machine.is_public)):
                continue
            try:
                services.machine_update(user=request.user, machine_id=machine.pk, learns=learns, is_public=is_public)
            except PlayError as error:  # deleted a moment ago
                self.message_user(request, f"{machine.name}: {error}", messages.ERROR)
            else:
                changed.append(machine)
        log_each(request, changed, message)
        self.message_user(request, f"{message} Machines changed: {len(changed)} of {len(machines)}.", messages.SUCCESS)

    def _chosen(self, request: HttpRequest, queryset: QuerySet[Machine]) -> list[Machine]:
        """The machines, unless they are too many for one request; then none, and why is said."""
        machines = list(queryset[: MAX_AT_ONCE + 1])
        if len(machines) <= MAX_AT_ONCE:
            return machines
        words = f"Choose at most {MAX_AT_ONCE} machines at once. Nothing has changed."
        self.message_user(request, words, messages.ERROR)
        return []

    @admin.action(description="Delete the selected machines…", permissions=["erase"])
    def erase(self, request: HttpRequest, queryset: QuerySet[Machine]) -> HttpResponse | None:
        """Say what would be lost; once that is confirmed, delete each with all that it has learnt."""
        machines = self._chosen(request, queryset)
        if not machines:
            return None
        if "confirmed" not in request.POST:
            context = {
                **self.admin_site.each_context(request),
                "title": "Delete machines",
                "opts": self.opts,
                "machines": machines,
                "checkbox": ACTION_CHECKBOX_NAME,
                "media": self.media,
            }
            return TemplateResponse(request, "admin/learning/machine/erase.html", context)
        deleted = []
        for machine in machines:
            try:
                services.machine_delete(user=request.user, machine_id=machine.pk)
            except PlayError as error:
                self.message_user(request, f"{machine.name}: {error}", messages.ERROR)
            else:
                deleted.append(machine)
        log_each(request, deleted, "Deleted.", DELETION)
        self.message_user(request, f"Machines deleted: {len(deleted)} of {len(machines)}.", messages.SUCCESS)
        return None

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Name, description, publishing and freezing may be changed."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)

    def save_model(self, request: HttpRequest, obj: Machine, form: Any, change: bool) -> None:
        """Through the service: the form's copy of the row is as old as the page it came from."""
        services.machine_update(
            user=request.user, machine_id=obj.pk, **{field: getattr(obj, field) for field in form.changed_data}
        )

    @admin.display(description="owner")
    def owner_page(self, machine: Machine) -> str:
        """The account or the guest that it belongs to."""
        if machine.guest:
            return format_html('<a href="?{}={}">a guest</a>', GuestFilter.parameter_name, machine.guest)
        return page_link(machine.owner) if machine.owner else "the site"

    @admin.display(description="see also")
    def see(self, machine: Machine) -> str:
        """Links to the memory, runs, schedules and page of the machine."""
        kind, of_it = kind_of(machine), f"{MachineFilter.parameter_name}={machine.pk}"
        memory, query = kind.admin_list(machine)
        lists = [
            (memory, query, kind.noun.capitalize()),
            ("trainingrun", of_it, "Runs"),
            ("schedule", of_it, "Schedules"),
            ("lesson", of_it, "Lessons"),
            ("snapshot", of_it, "Snapshots"),
        ]
        links = [(f"{reverse(f'admin:learning_{model}_changelist')}?{asked}", words) for model, asked, words in lists]
        return links_html([*links, (machine.get_absolute_url(), "On the site")])


class VisitedFilter(admin.SimpleListFilter):
    """Boxes that a learning game has opened, or not."""

    title = "visited"
    parameter_name = "visited"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Yes and no."""
        return [("yes", "yes"), ("no", "no")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AnyBox]) -> QuerySet[AnyBox]:
        """Any slot drawn at least once."""
        # Draws are never negative, so a box was visited when some slot is not 0.
        never = Q(visits__contained_by=[0])
        if self.value() == "yes":
            return queryset.exclude(never)
        return queryset.filter(never) if self.value() == "no" else queryset


class MoveFilter(Choices):
    """By which of the machine's moves it is."""

    title, parameter_name, field = "move", "move_number", "move_number"

    def known(self) -> list[tuple[str, str]]:
        """The first ones; an address may name any."""
        return [(str(number), str(number)) for number in range(1, MOVES_OFFERED + 1)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AnyBox]) -> QuerySet[AnyBox]:
        """Boxes of that move."""
        if self.value() is not None and row_id(self.value() or "") is None:
            return queryset.none()
        return super().queryset(request, queryset)


class BoxList(ChangeList):
    """A list of boxes. One that is shared is no row of its machine's own: it leads to its page on the site."""

    def url_for_result(self, result: Model) -> str:
        """Where the line of a box leads."""
        if isinstance(result, AnyBox) and result.pk is None:
            return result.get_absolute_url()
        return super().url_for_result(result)


@admin.register(Box)
class BoxAdmin(OfMachine, ReadOnly, WithRowFilter, Large):
    """Boxes: the position drawn, the beads as bars. Of one machine all; of all machines the newest of their own."""

    list_display = ("board", "machine_page", "move_number", "bars")
    list_display_links = ("board",)
    list_filter = (MachineFilter, VisitedFilter, MoveFilter)
    list_select_related = ("machine",)
    search_fields = ("position__exact",)
    indexed = (MachineFilter.parameter_name,)
    fields = ("machine", "board", "ply", "move_number", "bars", "start", "beads", "visits", "latest_changes")
    readonly_fields = fields

    class Media(BoardMedia):
        """Boards and bars."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list that knows boxes without a row."""
        return BoxList

    def get_queryset(self, request: HttpRequest) -> QuerySet[AnyBox]:
        """All boxes of the machine that is asked for, those that it shares among them."""
        asked = row_id(request.GET.get(MachineFilter.parameter_name, ""))
        machine = None if asked is None else Machine.objects.filter(pk=asked).first()
        return super().get_queryset(request) if machine is None else machine.boxes.order_by("ply", "position")

    def get_ordering(self, request: HttpRequest) -> tuple[Any, ...]:
        """Of one machine in the order of play, since what it shares has no number of its own; else the newest first."""
        of_one = request.GET.get(MachineFilter.parameter_name)
        return ("ply", "position") if of_one else tuple(super().get_ordering(request))

    @admin.display(description="position", ordering="position")
    def board(self, box: AnyBox) -> str:
        """The position, drawn."""
        return board_html(box.machine.game, box.position)

    @admin.display(description=f"latest {LATEST_CHANGES} changes")
    def latest_changes(self, box: AnyBox) -> str:
        """The ledger of the box, newest first, each with its match or run."""
        rows = [
            (cause_link(change.lesson), change.deltas, change.after) for change in box_history(box)[:LATEST_CHANGES]
        ]
        return format_html(
            "<table><tr><th>cause</th><th>change</th><th>after</th></tr>{}</table>",
            format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", rows),
        )

    @admin.display(description="beads")
    def bars(self, box: AnyBox) -> str:
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
