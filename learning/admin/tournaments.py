"""Tournaments in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from games.admin.base import CappedListAdmin, GameFilter, ReadOnly, log_each
from learning.models import (
    JobStatus,
    Pairing,
    Tournament,
    TournamentEntry,
)
from learning.selectors.tournaments import tournaments_with_counts
from learning.services import tournaments as services_tournaments


class EntryInline(ReadOnly, admin.TabularInline):
    """The entrants of a tournament."""

    model = TournamentEntry
    fields = ("number", "name", "opponent", "machine", "side")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[TournamentEntry]:
        """Defer the beads and rules, which can be large."""
        return super().get_queryset(request).select_related("machine").defer("beads", "rule")


class PairingInline(ReadOnly, admin.TabularInline):
    """The pairings of a tournament with their results."""

    model = Pairing
    fields = ("number", "round", "first", "second", "status", "n_first_wins", "n_draws", "n_second_wins", "expected")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pairing]:
        """Select both entrants with the pairing, for their names, without their beads and rules."""
        deferred = [f"{side}__{field}" for side in ("first", "second") for field in ("beads", "rule")]
        return super().get_queryset(request).select_related("first", "second").defer(*deferred)


@admin.register(Tournament)
class TournamentAdmin(ReadOnly, CappedListAdmin):
    """Tournaments and their progress: read-only, but active tournaments can be stopped."""

    list_display = ("name", "game", "format", "status", "progress", "owner", "is_public", "created_at")
    list_filter = ("status", "format", GameFilter)
    list_select_related = ("owner",)
    inlines = (EntryInline, PairingInline)
    actions = ("call_off",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tournament]:
        """Annotate the number of pairings, in total and finished."""
        return tournaments_with_counts(super().get_queryset(request))

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Return whether the viewer may change tournaments, which includes stopping them."""
        return request.user.has_perm("learning.change_tournament")

    @admin.display(description="played")
    def progress(self, tournament: Any) -> str:
        """Return the finished pairings as a bar and in words."""
        done, total = tournament.n_done, max(1, tournament.n_pairings)
        return format_html('<progress max="{}" value="{}"></progress> {} of {}', total, done, done, total)

    @admin.action(description="Stop the selected tournaments", permissions=["cancel"])
    def call_off(self, request: HttpRequest, queryset: QuerySet[Tournament]) -> None:
        """Stop the active tournaments among the selected ones; the games already played are kept."""
        active = list(queryset.filter(status=JobStatus.RUNNING))
        for tournament in active:
            services_tournaments.tournament_cancel(user=request.user, tournament_id=tournament.pk)
        log_each(request, active, "Called off.")
        self.message_user(request, f"Stopped: {len(active)}. The others were over.")
