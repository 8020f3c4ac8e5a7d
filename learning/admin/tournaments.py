"""Tournaments for the staff."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from games.admin.base import Counted, GameFilter, ReadOnly, log_each
from learning.models import (
    JobStatus,
    Pairing,
    Tournament,
    TournamentEntry,
)
from learning.selectors.tournaments import tournaments_counted
from learning.services import tournaments as services_tournaments


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
class TournamentAdmin(ReadOnly, Counted):
    """Tournaments: how far they are; those that go on can be called off."""

    list_display = ("name", "game", "format", "status", "progress", "owner", "is_public", "created_at")
    list_filter = ("status", "format", GameFilter)
    list_select_related = ("owner",)
    inlines = (EntryInline, PairingInline)
    actions = ("call_off",)

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

    @admin.action(description="Stop the selected tournaments", permissions=["hold"])
    def call_off(self, request: HttpRequest, queryset: QuerySet[Tournament]) -> None:
        """What has been played stays."""
        going_on = list(queryset.filter(status=JobStatus.RUNNING))
        for tournament in going_on:
            services_tournaments.tournament_cancel(user=request.user, tournament_id=tournament.pk)
        log_each(request, going_on, "Called off.")
        self.message_user(request, f"Stopped: {len(going_on)}. The others were over.")
