"""Walks through the positions of a game that use only the interface of the rules."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from beadbox.rules.errors import RulesError
from beadbox.rules.game import Game

MAX_PLIES = 1000


def episodes(game: Game[Any, Any], n: int, seed: int = 0) -> Iterator[list[Any]]:
    """Yield the positions of ``n`` games of uniformly random play, from the start to the end.

    If a game is too large to list, its games are long, so one in 50 of them is played.
    """
    rng = random.Random(seed)
    for _ in range(n if game.listable else max(1, n // 50)):
        positions = [game.initial_position()]
        while (legal := game.legal_moves(positions[-1])) and len(positions) <= MAX_PLIES:
            positions.append(game.apply(positions[-1], rng.choice(legal)))
        yield positions


def positions_met(game: Game[Any, Any], n: int, seed: int = 0) -> list[Any]:
    """Return the distinct positions of ``n`` random games, in a fixed order; about n/2 of them if they are too many."""
    positions = list(dict.fromkeys(position for episode in episodes(game, n, seed) for position in episode))
    return positions if game.listable else positions[:: max(1, 2 * len(positions) // n)]


def error_of(read: Callable[[str], Any], text: str) -> RulesError | None:
    """Return the error with which the rules refuse a text, or ``None`` if they accept the text."""
    try:
        read(text)
    except RulesError as error:
        return error
    return None


def reachable(game: Game[Any, Any]) -> dict[Any, int]:
    """Return every reachable position, without reduction by symmetry, with the least number of moves to it."""
    depth = {game.initial_position(): 0}
    frontier = list(depth)
    while frontier:
        found = {}
        for position in frontier:
            for move in game.legal_moves(position):
                after = game.apply(position, move)
                if after not in depth:
                    found[after] = depth[position] + 1
        depth |= found
        frontier = list(found)
    return depth
