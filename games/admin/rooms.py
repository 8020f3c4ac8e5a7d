"""Rooms and matches for the staff. Everything a match has written is history, so nothing here can be edited."""

from __future__ import annotations

from django.contrib import admin

from games.admin.base import BoardMedia, Choices, GameFilter, Large, ReadOnly, board_html
from games.models import HUMAN, Match, Ply, Room, Seat
from games.players import PLAYERS
from games.rules.registry import GAMES
from games.selectors import MATCH_REASONS


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


@admin.register(Match)
class MatchAdmin(ReadOnly, Large):
    """Matches with their plies."""

    list_display = ("__str__", "game", "status", "winner", "termination", "n_plies", "created_at")
    list_filter = ("status", EndingFilter, MatchGameFilter)
    list_select_related = ("room",)
    search_fields = ("room__code__exact",)
    readonly_fields = ("board",)
    inlines = (SeatInline, PlyInline)
    indexed = ("q",)

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
class RoomAdmin(ReadOnly, Large):
    """Rooms; their matches are one click away."""

    list_display = ("code", "game", "opponent", "fresh", "version", "changed_at")
    list_filter = (GameFilter, OpponentFilter, "fresh")
    search_fields = ("code__exact",)
    indexed = ("q",)
