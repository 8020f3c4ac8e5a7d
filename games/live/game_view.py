"""The JSON view of a game, from which clients draw and offer it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from beadbox.rules.game import AnyGame, GuidePart
from beadbox.rules.layout import Layout
from beadbox.rules.registry import family_games
from games.live.players import PLAYERS, Offer
from games.live.states import (
    GameShape,
    GuidePicture,
    LayoutShape,
    OpponentShape,
)
from games.models import HUMAN


def game_view(game: AnyGame) -> GameShape:
    """Return everything needed to draw and start a game (docs/protocol.md, the layout of a game)."""
    layout = game.presentation.layout
    return {
        "slug": game.slug,
        "family": game.family,
        "variant": game.variant,
        "variants": [
            {
                "slug": one.slug,
                "name": one.name,
                "variant": one.variant,
                "columns": one.presentation.layout.columns,
                "rows": one.presentation.layout.rows,
            }
            for one in family_games(game.family)
        ],
        "name": game.name,
        "summary": game.summary,
        "start": game.encode(game.initial_position()),
        "sides": [{"role": role, "name": name} for role, name in zip(layout.roles, layout.role_names, strict=True)],
        "notation": {
            "moves": [game.format_move(move) for move in game.legal_moves(game.initial_position())],
            "position": game.presentation.notation,
        },
        "layout": _layout_view(layout),
        "guide": [
            {"title": part.title, "words": part.words, "picture": _guide_picture(game, part)}
            for part in game.presentation.guide
        ],
        "boxes": game.supports_boxes,
        "has_engine": any(player.advises(game) for player in PLAYERS.values()),
        "has_actions": game.presentation.has_actions,
        "plain_words": game.presentation.plain_words,
        "legend": game.presentation.legend,
        "additions": [
            {"slug": slug, "name": addition.name, "summary": addition.summary, "added": slug in game.added}
            for slug, addition in game.additions.items()
        ],
        "opponents": opponent_list(game),
    }


def _layout_view(layout: Layout) -> LayoutShape:
    return {
        "columns": layout.columns,
        "rows": layout.rows,
        "shape": layout.shape,
        "lines": list(layout.lines),
        "roles": list(layout.roles),
        "role_names": list(layout.role_names),
        "cells": [
            {
                "id": cell.id,
                "name": cell.name,
                "mark": cell.mark,
                "x": cell.x,
                "y": cell.y,
                "zone": cell.zone,
                "goal": cell.goal,
            }
            for cell in layout.cells
        ],
        "pieces": {text: asdict(look) for text, look in layout.pieces.items()},
        "cell_words": layout.cell_words,
        "badges": list(layout.badges or layout.roles),
        "coordinates": layout.coordinates,
        "prompts": list(layout.prompts),
    }


def _guide_picture(game: AnyGame, part: GuidePart[Any, Any]) -> GuidePicture | None:
    """Return the picture of a part of the guide; ``None`` for a part without a position.

    The lit cells are the winning cells. Without winning cells, the lit cell is the origin of the shown moves.
    """
    if part.position is None:
        return None
    paths = [game.presentation.path_ids(move) for move in part.moves]
    movers = {path[0] for path in paths if len(path) > 1}
    winning = [game.presentation.layout.cells[cell].id for cell in game.presentation.winning_cells(part.position)]
    return {
        "board": list(game.pieces(part.position)),
        "lit": winning or (sorted(movers) if len(movers) == 1 else []),
        "dots": sorted({path[-1] for path in paths}),
    }


def game_picture(game: AnyGame) -> dict[str, object]:
    """Return the layout and the pieces of a scene, from which ``static/js/boards.js`` draws a picture of the game."""
    return {"layout": _layout_view(game.presentation.layout), "pieces": game.pieces(game.presentation.scene())}


def opponent_list(game: AnyGame) -> list[OpponentShape]:
    """Return the opponents that can be requested by name in a game, a human first."""
    return [_opponent_view(HUMAN, Offer("A friend", "Send a friend a link and play each other.")), *player_list(game)]


def player_list(game: AnyGame) -> list[OpponentShape]:
    """Return the automated players that can be requested by name in a game."""
    offers = ((player.slug, player.offer(game)) for player in PLAYERS.values())
    return [_opponent_view(slug, offer) for slug, offer in offers if offer is not None]


def _opponent_view(slug: str, offer: Offer) -> OpponentShape:
    return {"slug": slug, "name": offer.name, "summary": offer.summary, "whom": offer.suitable_for, "elo": offer.elo}
