"""Rooms and matches for the staff. Everything a match has written is history, so nothing here can be edited."""

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
    Choices,
    GameFilter,
    Large,
    LinkedFilter,
    PlayerFilter,
    ReadOnly,
    board_html,
    links_html,
)
from games.codes import parse_code
from games.exceptions import NotACodeError
from games.live.players import PLAYERS
from games.live.room_state import MATCH_REASONS
from games.models import HUMAN, Match, Ply, Room, Seat


class SeatInline(ReadOnly, admin.TabularInline):
    """The seats of a match."""

    model = Seat
    fields = ("side", "player", "name", "user")
    extra = 0


class PlyInline(ReadOnly, admin.TabularInline):
    """The moves of a match."""

    model = Ply
    fields = ("number", "side", "move", "board", "played_at")
    readonly_fields = fields
    extra = 0

    @admin.display(description="position after")
    def board(self, ply: Ply) -> str:
        """The position, drawn."""
        return board_html(ply.match.room.game, ply.position)


class EndingFilter(Choices):
    """How matches have ended: by resignation, or as the rules of some game say."""

    title, parameter_name, field = "how it ended", "termination", "termination"

    def known(self) -> list[tuple[str, str]]:
        """What games call it, and what every match may come to."""
        reasons = dict(MATCH_REASONS)
        for game in GAMES.values():
            reasons |= game.look.reasons
        return sorted((slug, slug.replace("_", " ").replace("-", " ")) for slug in reasons)


class MatchGameFilter(GameFilter):
    """By the game of the room."""

    field = "room__game"


class OpponentFilter(Choices):
    """By who was asked for as the opponent."""

    title = parameter_name = field = "opponent"

    def known(self) -> list[tuple[str, str]]:
        """People, machines, and those that always play the same way, as the list calls them."""
        return [(slug, slug) for slug in (HUMAN, *PLAYERS)]


class MatchPlayerFilter(PlayerFilter):
    """Narrow the list of matches to those of one player."""

    path = "match_id"


class RoomPlayerFilter(PlayerFilter):
    """Rooms in which a player sat."""

    path = "match__room_id"


class AddressFilter(LinkedFilter):
    """By the hash of the address from which rooms were opened."""

    title, parameter_name, words = "address", "opened_from", "Opened from one address"

    def narrowed(self, rows: QuerySet[Room], value: str) -> QuerySet[Room]:
        """The rooms that were opened there."""
        return rows.filter(opened_from=value)


class SearchedByCode(Large):
    """A list that is searched by the code of a room, as people write it."""

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Read the code; what cannot be one finds nothing."""
        with suppress(NotACodeError):
            search_term = parse_code(search_term)
        return super().get_search_results(request, queryset, search_term)


@admin.register(Match)
class MatchAdmin(ReadOnly, SearchedByCode):
    """Matches with their plies."""

    list_display = ("__str__", "game", "status", "winner", "termination", "n_plies", "created_at")
    list_filter = ("status", EndingFilter, MatchGameFilter, MatchPlayerFilter)
    list_select_related = ("room",)
    search_fields = ("room__code__exact",)
    readonly_fields = ("board",)
    inlines = (SeatInline, PlyInline)
    indexed = ("q", MatchPlayerFilter.parameter_name)

    class Media(BoardMedia):
        """Boards."""

    @admin.display
    def game(self, match: Match) -> str:
        """The game's slug."""
        return match.room.game

    @admin.display(description="position")
    def board(self, match: Match) -> str:
        """The position, drawn."""
        return board_html(match.room.game, match.position)


@admin.register(Room)
class RoomAdmin(ReadOnly, SearchedByCode):
    """Rooms; their matches are one click away."""

    list_display = ("code", "game", "opponent", "fresh", "version", "changed_at")
    list_filter = (GameFilter, OpponentFilter, "fresh", RoomPlayerFilter, AddressFilter)
    search_fields = ("code__exact",)
    indexed = ("q", RoomPlayerFilter.parameter_name, AddressFilter.parameter_name)
    readonly_fields = ("see",)

    @admin.display(description="see also")
    def see(self, room: Room) -> str:
        """Links to the matches of the room and to its page."""
        matches = f"{reverse('admin:games_match_changelist')}?q={room.code}"
        return links_html([(matches, "Matches"), (room.get_absolute_url(), "On the site")])
