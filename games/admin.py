"""Rooms and matches for the staff. Everything a match has written is history, so nothing here can be edited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from games import services_tokens
from games.models import ApiToken, Match, Ply, Room, Seat
from games.selectors import game_view


class ReadOnly:
    """Admin of rows that only services write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody adds rows by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes rows by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes rows by hand."""
        return False


def board_html(game_slug: str, text: str) -> str:
    """A position drawn as a board by ``static/js/admin_board.js``, with its text for those who cannot see it."""
    from games.rules.registry import game_get

    game = game_get(game_slug)
    board = json.dumps(list(game.pieces(game.decode(text))))
    layout = json.dumps(game_view(game)["layout"])
    return format_html(
        '<bead-board data-game="{}" data-board="{}" data-layout="{}"></bead-board> <code>{}</code>',
        game_slug,
        board,
        layout,
        text,
    )


class BoardMedia:
    """The script that draws boards and beads in the admin."""

    js = [forms.Script("js/admin_board.js", type="module")]


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


class TerminationFilter(admin.AllValuesFieldListFilter):
    """How matches have ended; of those that go on it is said too, where Django would show a link without words."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Django's own, each with words."""
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or "not yet"}


@admin.register(Match)
class MatchAdmin(ReadOnly, admin.ModelAdmin):
    """Matches with their plies."""

    list_display = ("__str__", "game", "status", "winner", "termination", "n_plies", "created_at")
    list_filter = ("status", ("termination", TerminationFilter), "room__game")
    list_select_related = ("room",)
    search_fields = ("room__code__exact",)
    readonly_fields = ("board",)
    inlines = (SeatInline, PlyInline)
    show_full_result_count = False

    class Media(BoardMedia):
        """Boards."""

    @admin.display(ordering="room__game")
    def game(self, match: Match) -> str:
        """The game's slug."""
        return match.room.game

    @admin.display(description="position")
    def board(self, match: Match) -> str:
        """The position, drawn."""
        return board_html(match.room.game, match.position)


@admin.register(Room)
class RoomAdmin(ReadOnly, admin.ModelAdmin):
    """Rooms; their matches are one click away."""

    list_display = ("code", "game", "opponent", "fresh", "version", "changed_at")
    list_filter = ("game", "opponent", "fresh")
    search_fields = ("code__exact",)
    show_full_result_count = False


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly, admin.ModelAdmin):
    """Tokens, of which nobody here sees more than the start; those that must not work any longer are revoked."""

    list_display = ("prefix", "name", "user", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("prefix", "user__username")
    exclude = ("sha256",)
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Who may change tokens may end them."""
        return request.user.has_perm("games.change_apitoken")

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """End each that still counts."""
        tokens = list(queryset.filter(revoked_at__isnull=True).select_related("user"))
        for token in tokens:
            services_tokens.token_revoke(user=token.user, token_id=token.pk)
        self.message_user(request, f"{len(tokens)} do not work any more.")
