"""An independent Romgon, with and without flips, written from its law: moves, and the ends of matches.

The program imports no code of the project. ``python -m tests.independent.romgon URL`` lets levels with flips play each
other by ``POST URL/api/ai/move``, and prints the stronger level's share of points.
"""

from __future__ import annotations

import json
import random
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

Hex = tuple[int, int]
"""Row and doubled column (x): ``x = 2 * column + |3 - row|``."""
DIRECTIONS = ((0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1))
"""The six directions, clockwise from the east."""
HEXES = [(row, 2 * column + abs(3 - row)) for row in range(7) for column in range(9 - abs(3 - row))]
DEAD_HEXES = {(3, 6), (3, 8), (3, 10)}
GOALS = {"white": (3, 16), "black": (3, 0)}
OTHER = {"white": "black", "black": "white"}
WHITE_PIECES = {
    "0-0": "square",
    "6-0": "square",
    "1-0": "triangle",
    "5-0": "triangle",
    "2-0": "circle",
    "3-0": "rhombus",
}
MAX_PLIES = 200
LEVELS = ("easy", "starter", "medium", "skilled", "veteran", "legend")
"""Levels, from weakest to strongest."""


class Piece(NamedTuple):
    """A piece. Pieces are never turned here."""

    colour: str
    kind: str
    is_flipped: bool = False


class Action(NamedTuple):
    """A move, a capture, or a flip. The target of a flip is its origin."""

    origin: Hex
    target: Hex


Board = dict[Hex, Piece]


def hex_name(hexagon: Hex) -> str:
    """Return the name of a hex, as ``3-4``."""
    row, x = hexagon
    return f"{row}-{(x - abs(3 - row)) // 2}"


def hex_of(name: str) -> Hex:
    row, column = map(int, name.split("-"))
    return row, 2 * column + abs(3 - row)


def hex_at(hexagon: Hex, vector: Hex) -> Hex:
    """Return the hex at a vector from this hex; the result may be off the board."""
    return hexagon[0] + vector[0], hexagon[1] + vector[1]


def distance(one: Hex, two: Hex) -> int:
    """Return the number of steps between two hexes."""
    rows, xs = abs(one[0] - two[0]), abs(one[1] - two[1])
    return rows + max(0, (xs - rows) // 2)


ZONE = {hexagon: min(distance(hexagon, dead) for dead in DEAD_HEXES) for hexagon in HEXES}
NEIGHBOURS = {one: [hex_at(one, vector) for vector in DIRECTIONS if hex_at(one, vector) in ZONE] for one in HEXES}


def start_board() -> Board:
    """Return the board at the beginning; Black moves first."""
    board = {hex_of(name): Piece("white", kind) for name, kind in {**WHITE_PIECES, "4-0": "hexgon"}.items()}
    return board | {(6 - row, 16 - x): Piece("black", piece.kind) for (row, x), piece in board.items()}


def reachable_hexes(board: Board, origin: Hex) -> Iterator[tuple[Hex, bool]]:
    """Yield the hexes that a piece reaches if no piece of its side is there, and whether the piece may capture there.

    A circle's run on its ring ends at the first piece in its way. A hex can be yielded twice.
    """
    piece = board[origin]
    if piece.is_flipped:
        enters = [one for one in NEIGHBOURS[origin] if piece.kind != "circle" or ZONE[one] or not ZONE[origin]]
        yield from ((one, True) for one in enters)
    elif piece.kind == "circle":
        yield from _circle_hexes(board, origin)
    else:
        vectors = _vectors(piece)
        yield from ((hex_at(origin, vector), True) for vector in vectors if hex_at(origin, vector) in ZONE)
        if piece.kind == "rhombus":
            diagonal = [hex_at(origin, vector) for vector in DIRECTIONS if vector[0] and hex_at(origin, vector) in ZONE]
            yield from ((one, False) for one in diagonal if {ZONE[origin], ZONE[one]} == {0, 1})


def _vectors(piece: Piece) -> list[Hex]:
    if piece.kind == "square":
        return [vector for vector in DIRECTIONS if vector[0]]
    if piece.kind == "rhombus":
        return [(0, 2), (0, -2), (0, 4), (0, -4), (2, 0), (-2, 0)]
    if piece.kind == "triangle":
        facing = 0 if piece.colour == "white" else 3
        return [DIRECTIONS[(facing + more) % 6] for more in (-1, 0, 1)]
    return [(0, 2), (1, 3), (-1, 3), (0, -2), (1, -3), (-1, -3)]


def _circle_hexes(board: Board, origin: Hex) -> Iterator[tuple[Hex, bool]]:
    if not ZONE[origin]:
        return
    yield from ((one, False) for one in NEIGHBOURS[origin] if ZONE[one] not in {0, ZONE[origin]})
    for first in (one for one in NEIGHBOURS[origin] if ZONE[one] == ZONE[origin]):
        before, at = origin, first
        while at != origin:
            yield at, True
            if at in board:
                break
            before, at = at, next(one for one in NEIGHBOURS[at] if ZONE[one] == ZONE[at] and one != before)


def targets(board: Board, origin: Hex, flips: bool) -> set[Hex]:
    """Return the targets of a piece, even those that leave its own rhombus in check."""
    piece, found = board[origin], set()
    for one, captures in reachable_hexes(board, origin):
        target_piece = board.get(one)
        if target_piece is None:
            found.add(one)
        elif captures and target_piece.colour != piece.colour and not (piece.kind == target_piece.kind == "rhombus"):
            found |= {one} if not flips or piece.is_flipped == target_piece.is_flipped else set()
    return found


def is_in_check(board: Board, colour: str, flips: bool) -> bool:
    """Whether the rhombus of a colour is attacked."""
    rhombus_hexes = {one for one, piece in board.items() if piece[:2] == (colour, "rhombus")}
    attackers = [one for one, piece in board.items() if piece.colour != colour]
    return any(rhombus_hexes & targets(board, one, flips) for one in attackers)


def board_after(board: Board, action: Action) -> Board:
    piece = board[action.origin]
    remaining = {one: target_piece for one, target_piece in board.items() if one != action.origin}
    flipped = action.origin == action.target
    return {**remaining, action.target: piece._replace(is_flipped=not piece.is_flipped) if flipped else piece}


def actions(board: Board, colour: str, flips: bool) -> list[Action]:
    """Return the legal actions of a colour, in the order of the law."""
    found = []
    for origin in [one for one, piece in board.items() if piece.colour == colour]:
        for target in targets(board, origin, flips) | ({origin} if flips else set()):
            enters = board[origin].kind == "rhombus" and target == GOALS[colour]
            if enters or not is_in_check(board_after(board, Action(origin, target)), colour, flips):
                found.append(Action(origin, target))
    return sorted(found)


def winner(board: Board, colour: str, flips: bool) -> str | None:
    """Return the colour that has won by the board alone, with ``colour`` to move, or ``None``."""
    colours_with_rhombus = {piece.colour for piece in board.values() if piece.kind == "rhombus"}
    if len(colours_with_rhombus) == 1:
        return colours_with_rhombus.pop()
    for one in (OTHER[colour], colour):
        if board.get(GOALS[one], Piece("", ""))[:2] == (one, "rhombus"):
            return one
    return None if actions(board, colour, flips) else OTHER[colour]


def perft(board: Board, colour: str, flips: bool, depth: int) -> int:
    """Return the number of sequences of ``depth`` actions; sequences end with a win."""
    if not depth:
        return 1
    if winner(board, colour, flips):
        return 0
    return sum(
        perft(board_after(board, action), OTHER[colour], flips, depth - 1) for action in actions(board, colour, flips)
    )


Player = Callable[[Board, str], Action]


def play_match(players: dict[str, Player], opening: list[Action], *, flips: bool = True) -> float:
    """Return Black's points in a match after an opening: 1, 0, or 0.5 after 200 plies."""
    board, colour, position_counts = start_board(), "black", Counter[Any]()
    for ply in range(MAX_PLIES + 1):
        position_counts[position := (colour, frozenset(board.items()))] += 1
        if winning_colour := winner(board, colour, flips):
            return float(winning_colour == "black")
        if position_counts[position] == 3:  # the side that repeated the position loses
            return float(colour == "black")
        if ply < MAX_PLIES:
            action = opening[ply] if ply < len(opening) else players[colour](board, colour)
            assert action in actions(board, colour, flips), f"{action} is not legal"
            board, colour = board_after(board, action), OTHER[colour]
    return 0.5


def random_opening(rng: random.Random, n_plies: int) -> list[Action]:
    """Return an opening of random actions that does not end the match."""
    while True:
        board, colour, opening = start_board(), "black", []
        while len(opening) < n_plies and not winner(board, colour, True):
            opening.append(rng.choice(actions(board, colour, True)))
            board, colour = board_after(board, opening[-1]), OTHER[colour]
        if not winner(board, colour, True):
            return opening


AskEndpoint = Callable[[dict[str, Any]], dict[str, Any]]


def endpoint_player(ask: AskEndpoint, level: str) -> Player:
    """Return a player that plays the answers of the endpoint at a level."""

    def choose(board: Board, colour: str) -> Action:
        board_json = {
            hex_name(one): {"color": piece.colour, "type": piece.kind, "flipped": piece.is_flipped}
            for one, piece in board.items()
        }
        answer = ask({"board": board_json, "playerColor": colour, "flipModeEnabled": True, "difficulty": level})
        return Action(hex_of(answer["move"]["from"]), hex_of(answer["move"]["to"]))

    return choose


def share_of_points(
    ask: AskEndpoint, strong: str, weak: str, n_openings: int, seed: int = 1, n_plies: int = 4
) -> float:
    """Return the stronger level's share of points, with each opening played from both sides."""
    one, two, rng, points = endpoint_player(ask, strong), endpoint_player(ask, weak), random.Random(seed), 0.0
    for _ in range(n_openings):
        opening = random_opening(rng, n_plies)
        points += (
            play_match({"black": one, "white": two}, opening) + 1 - play_match({"black": two, "white": one}, opening)
        )
    return points / (2 * n_openings)


def main(url: str, n_openings: int) -> None:
    """Print each upper level's share of points against the next lower one, and its standard error."""

    def ask(question: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{url}/api/ai/move", json.dumps(question).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    for strong, weak in pairwise(reversed(LEVELS)):
        found = share_of_points(ask, strong, weak, n_openings)
        error = sqrt(found * (1 - found) / (2 * n_openings))
        sys.stdout.write(f"{strong} against {weak}: {found:.3f}, standard error at most {error:.3f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), int(sys.argv[2]) if sys.argv[2:] else 50)
