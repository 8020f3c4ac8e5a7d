"""Rooms and matches for staff. Played matches are history, so these pages are read-only."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from beadbox.rules.registry import GAMES
from games.admin.base import (
    BoardMedia,
    ChoiceFilter,
    GameFilter,
    LargeTableAdmin,
    LinkedFilter,
    PlayerFilter,
    ReadOnly,
    board_html,
    links_html,
)
from games.codes import parse_code
from games.exceptions import NotACodeError
from games.live.players import PLAYERS
from games.live.room_state import MATCH_REASON_TEXTS
from games.models import HUMAN, Match, Ply, Room, Seat


class SeatInline(ReadOnly, admin.TabularInline):
    model = Seat
    fields = ("side", "player", "name", "user")
    extra = 0


class PlyInline(ReadOnly, admin.TabularInline):
    model = Ply
    fields = ("number", "side", "move", "board", "played_at")
    readonly_fields = fields
    extra = 0

    @admin.display(description="position after")
    def board(self, ply: Ply) -> str:
        return board_html(ply.match.room.game, ply.position)


class EndingFilter(ChoiceFilter):
    """A filter by the reason for a match's end: resignation, or a reason from the rules of a game."""

    title, parameter_name, field = "how it ended", "termination", "termination"

    def valid_values(self) -> list[tuple[str, str]]:
        """Return the reasons of all games, and the reasons that occur in any game, each with its label."""
        reasons = dict(MATCH_REASON_TEXTS)
        for game in GAMES.values():
            reasons |= game.presentation.reasons
        return sorted((slug, slug.replace("_", " ").replace("-", " ")) for slug in reasons)


class MatchGameFilter(GameFilter):
    field = "room__game"


class OpponentFilter(ChoiceFilter):
    """A filter by the opponent that was requested."""

    title = parameter_name = field = "opponent"

    def valid_values(self) -> list[tuple[str, str]]:
        """Return the slug for people, and the slugs of all automated players."""
        return [(slug, slug) for slug in (HUMAN, *PLAYERS)]


class MatchPlayerFilter(PlayerFilter):
    """A filter of matches by one player."""

    path = "match_id"


class RoomPlayerFilter(PlayerFilter):
    """A filter of rooms by a player with a seat in one of their matches."""

    path = "match__room_id"


class AddressFilter(LinkedFilter):
    """A filter by the hash of the address from which rooms were opened."""

    title, parameter_name, list_label = "address", "opened_from", "Opened from one address"

    def filter_rows(self, rows: QuerySet[Room], value: str) -> QuerySet[Room]:
        return rows.filter(opened_from=value)


class CodeSearchAdmin(LargeTableAdmin):
    """Base of lists in which a search looks for a room code, in every form in which people write codes."""

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Return the rows with the code that the term contains; a term without a code finds nothing."""
        with suppress(NotACodeError):
            search_term = parse_code(search_term)
        return super().get_search_results(request, queryset, search_term)


@admin.register(Match)
class MatchAdmin(ReadOnly, CodeSearchAdmin):
    """Matches with their seats and plies."""

    list_display = ("__str__", "game", "status", "winner", "termination", "n_plies", "created_at")
    list_filter = ("status", EndingFilter, MatchGameFilter, MatchPlayerFilter)
    list_select_related = ("room",)
    search_fields = ("room__code__exact",)
    readonly_fields = ("board",)
    inlines = (SeatInline, PlyInline)
    indexed_parameters = ("q", MatchPlayerFilter.parameter_name)

    class Media(BoardMedia):
        """The script that draws boards."""

    @admin.display
    def game(self, match: Match) -> str:
        return match.room.game

    @admin.display(description="position")
    def board(self, match: Match) -> str:
        return board_html(match.room.game, match.position)


@admin.register(Room)
class RoomAdmin(ReadOnly, CodeSearchAdmin):
    """Rooms, with a link to their matches."""

    list_display = ("code", "game", "opponent", "fresh", "version", "changed_at")
    list_filter = (GameFilter, OpponentFilter, "fresh", RoomPlayerFilter, AddressFilter)
    search_fields = ("code__exact",)
    indexed_parameters = ("q", RoomPlayerFilter.parameter_name, AddressFilter.parameter_name)
    readonly_fields = ("see",)

    @admin.display(description="see also")
    def see(self, room: Room) -> str:
        """Return links to the matches of the room and to its page."""
        matches = f"{reverse('admin:games_match_changelist')}?q={room.code}"
        return links_html([(matches, "Matches"), (room.get_absolute_url(), "On the site")])
