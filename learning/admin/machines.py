"""Machines in the admin. Beads record past games and cannot be edited."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import DELETION
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html

from beadbox.learners.presets import ALL_PRESETS
from games.admin.base import (
    CappedListAdmin,
    ChoiceFilter,
    GameFilter,
    LinkedFilter,
    NameSearch,
    ReadOnly,
    RowFilter,
    WithRowFilter,
    links_html,
    log_each,
)
from games.exceptions import PlayError
from learning.kinds.admin import MachineFilter, page_link
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.services import machines as services
from learning.services import runs as services_runs

N_ACTION_GAMES = 10_000
"""Number of games of a run started from the list of machines; a machine's page can start other runs."""


MAX_MACHINES_PER_ACTION = 200
"""Maximum number of machines that one action freezes, hides or deletes, each in its own transaction."""


class PresetFilter(ChoiceFilter):
    """Filter by the preset that the rule was copied from."""

    title = parameter_name = field = "preset"

    def valid_values(self) -> list[tuple[str, str]]:
        return [(slug, slug) for slug in sorted(ALL_PRESETS)]


class OwnerFilter(RowFilter):
    """Filter by the account that owns the machine."""

    title = field = "owner"
    parameter_name = "owner__id__exact"


class GuestFilter(LinkedFilter):
    """Filter by the guest that owns the machine, shown only when a link from another page sets the filter."""

    title, parameter_name, list_label = "guest", "guest", "Of one guest"

    def filter_rows(self, rows: QuerySet[Machine], value: str) -> QuerySet[Machine]:
        """Return the machines of the guest; none if the value is no UUID."""
        try:
            return rows.filter(guest=UUID(value))
        except ValueError:
            return rows.none()


@admin.register(Machine)
class MachineAdmin(NameSearch, ReadOnly, WithRowFilter, CappedListAdmin):
    """Machines. Name, description, visibility and learning can be edited; rule, game, side and totals are history."""

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
        """Return whether the viewer may change machines, which includes training them."""
        return request.user.has_perm("learning.change_machine")

    @admin.action(description=f"Train {N_ACTION_GAMES:,} games against a random player", permissions=["train"])
    def train(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Request a training run for each machine."""
        stages = [services_runs.Stage("random", N_ACTION_GAMES)]
        started = []
        for machine in queryset:
            try:
                services_runs.training_run_request(user=request.user, machine=str(machine.pk), stages=stages)
            except PlayError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                started.append(machine)
                self.message_user(request, f"The training of {machine.name} has been asked for.", messages.SUCCESS)
        log_each(request, started, f"Asked for a training of {N_ACTION_GAMES:,} games.")

    def has_erase_permission(self, request: HttpRequest) -> bool:
        """Return whether the viewer may delete machines."""
        return request.user.has_perm("learning.delete_machine")

    @admin.action(description="Freeze the selected machines: they play, but do not learn", permissions=["change"])
    def freeze(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Stop each machine from learning; it can still play."""
        self._set(request, queryset, "Frozen.", learns=False)

    @admin.action(description="Let the selected machines learn again", permissions=["change"])
    def unfreeze(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Let each machine learn from its games again."""
        self._set(request, queryset, "Learns again.", learns=True)

    @admin.action(description="Hide the selected machines: only their owners see them", permissions=["change"])
    def hide(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Remove each machine from the public lists."""
        self._set(request, queryset, "Hidden.", is_public=False)

    @admin.action(description="Make the selected machines public", permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Machine]) -> None:
        """Make each machine public, except those of guests, which stay private."""
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
        machines, changed = self._selected(request, queryset), []
        for machine in machines:
            if (learns, is_public) in ((machine.learns, None), (None, machine.is_public)):
                continue
            try:
                services.machine_update(user=request.user, machine_id=machine.pk, learns=learns, is_public=is_public)
            except PlayError as error:  # deleted since the list was read
                self.message_user(request, f"{machine.name}: {error}", messages.ERROR)
            else:
                changed.append(machine)
        log_each(request, changed, message)
        self.message_user(request, f"{message} Machines changed: {len(changed)} of {len(machines)}.", messages.SUCCESS)

    def _selected(self, request: HttpRequest, queryset: QuerySet[Machine]) -> list[Machine]:
        """Return the selected machines; if there are too many for one action, show an error and return none."""
        machines = list(queryset[: MAX_MACHINES_PER_ACTION + 1])
        if len(machines) <= MAX_MACHINES_PER_ACTION:
            return machines
        words = f"Choose at most {MAX_MACHINES_PER_ACTION} machines at once. Nothing has changed."
        self.message_user(request, words, messages.ERROR)
        return []

    @admin.action(description="Delete the selected machines…", permissions=["erase"])
    def erase(self, request: HttpRequest, queryset: QuerySet[Machine]) -> HttpResponse | None:
        """Show what would be lost; after confirmation, delete each machine with its memory."""
        machines = self._selected(request, queryset)
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

    # Unlike other read-only rows, machines have four fields to edit.
    has_change_permission = admin.ModelAdmin.has_change_permission

    def save_model(self, request: HttpRequest, obj: Machine, form: Any, change: bool) -> None:
        """Save only the changed fields, through the service: the other fields of the form may be out of date."""
        services.machine_update(
            user=request.user, machine_id=obj.pk, **{field: getattr(obj, field) for field in form.changed_data}
        )

    @admin.display(description="owner")
    def owner_page(self, machine: Machine) -> str:
        """Return a link to the account or guest that owns the machine."""
        if machine.guest:
            return format_html('<a href="?{}={}">a guest</a>', GuestFilter.parameter_name, machine.guest)
        return page_link(machine.owner) if machine.owner else "the site"

    @admin.display(description="see also")
    def see(self, machine: Machine) -> str:
        """Return links to the machine's memory, runs, schedules, lessons, snapshots and public page."""
        text, machine_query = kind_of(machine).page.text, f"{MachineFilter.parameter_name}={machine.pk}"
        memory, parameter = text.admin_list
        lists = [
            (memory, f"{parameter}={machine.pk}", text.noun.capitalize()),
            ("trainingrun", machine_query, "Runs"),
            ("schedule", machine_query, "Schedules"),
            ("lesson", machine_query, "Lessons"),
            ("snapshot", machine_query, "Snapshots"),
        ]
        links = [(f"{reverse(f'admin:learning_{model}_changelist')}?{query}", words) for model, query, words in lists]
        return links_html([*links, (machine.get_absolute_url(), "On the site")])
