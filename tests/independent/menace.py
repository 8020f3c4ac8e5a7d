"""An independent MENACE of 1961, from Michie's description: boards are strings, and boxes are dictionaries.

The program imports no code of the project. ``python -m tests.independent.menace`` prints figures. They differ from
those of ``docs/experiments.md`` only by chance, since the random numbers differ.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import cache

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
ROTATE, REFLECT = (6, 3, 0, 7, 4, 1, 8, 5, 2), (2, 1, 0, 5, 4, 3, 8, 7, 6)
EMPTY = "." * 9
BEADS = (4, 3, 2, 1)
"""Beads of each colour in a new box, by the number of MENACE's own move."""
REWARD = {"win": 3, "draw": 1, "loss": -1}

Boxes = dict[str, list[int]]
Replies = Callable[[str], tuple[int, ...]]
Reply = Callable[[str, random.Random], int]
N_GAMES = 1000
"""Games after which the points of a MENACE are the mark for other machines."""


def symmetries() -> Iterator[tuple[int, ...]]:
    """Yield the eight symmetries of the board; ``symmetry[i]`` is the square that moves to ``i``."""
    symmetry = tuple(range(9))
    for _ in range(4):
        yield symmetry
        yield tuple(symmetry[square] for square in REFLECT)
        symmetry = tuple(symmetry[square] for square in ROTATE)


SYMMETRIES = tuple(symmetries())


@cache
def winner(board: str) -> str:
    """Return the sign with a complete line, or an empty string."""
    return next((board[a] for a, b, c in LINES if board[a] != "." and board[a] == board[b] == board[c]), "")


@cache
def moves(board: str) -> tuple[int, ...]:
    """Return the empty squares, or none on a board that is won."""
    return () if winner(board) else tuple(square for square in range(9) if board[square] == ".")


@cache
def after_move(board: str, square: int) -> str:
    """Return the board after a move of the side to move."""
    sign = "X" if board.count("X") == board.count("O") else "O"
    return board[:square] + sign + board[square + 1 :]


@cache
def value(board: str) -> int:
    """Return 1, 0 or −1: the value for the side to move under perfect play."""
    if winner(board):
        return -1
    return max((-value(after_move(board, square)) for square in moves(board)), default=0)


@cache
def good_moves(board: str) -> tuple[int, ...]:
    """Return the moves that keep the value, in the order of the squares."""
    return tuple(square for square in moves(board) if -value(after_move(board, square)) == value(board))


@cache
def colours(board: str) -> tuple[str, tuple[tuple[int, ...], ...]]:
    """Return the name of a board's box, and for each colour of its beads the squares of this board.

    Symmetric boards share a box. Squares that a symmetry of the board maps onto each other share a colour. The order of
    the colours is that of the named board.
    """
    name = min("".join(board[square] for square in symmetry) for symmetry in SYMMETRIES)
    symmetry_to_name = next(
        symmetry for symmetry in SYMMETRIES if "".join(board[square] for square in symmetry) == name
    )
    stabiliser = [symmetry for symmetry in SYMMETRIES if "".join(name[square] for square in symmetry) == name]
    found: dict[int, tuple[int, ...]] = {}
    for square in moves(name):
        orbit = tuple(sorted({symmetry.index(square) for symmetry in stabiliser}))
        found.setdefault(orbit[0], orbit)
    return name, tuple(tuple(symmetry_to_name[square] for square in orbit) for orbit in found.values())


def open_box(boxes: Boxes, board: str) -> list[int]:
    """Return the beads of a board's box. A new box is filled; the first box is filled again when empty."""
    name, squares = colours(board)
    if name not in boxes or (board == EMPTY and not any(boxes[name])):
        boxes[name] = [BEADS[board.count("X")]] * len(squares)
    return boxes[name]


def play_game(boxes: Boxes, reply: Reply, rng: random.Random) -> str:
    """Play one game, which MENACE begins and learns from; return "win", "draw" or "loss"."""
    board, draws, result = EMPTY, list[tuple[list[int], int]](), ""
    while moves(board) and not result:
        if board.count("X") > board.count("O"):
            board = after_move(board, reply(board, rng))
            continue
        squares = colours(board)[1]
        if len(moves(board)) == 1:
            board = after_move(board, moves(board)[0])
            continue
        beads = open_box(boxes, board)
        if not any(beads):
            result = "loss"
            break
        colour = rng.choices(range(len(beads)), beads)[0]
        draws.append((beads, colour))
        board = after_move(board, rng.choice(squares[colour]))
    result = result or {"X": "win", "O": "loss", "": "draw"}[winner(board)]
    for beads, colour in draws:
        beads[colour] = max(0, beads[colour] + REWARD[result])
    return result


def habit_move(board: str, rng: random.Random) -> int:
    """Return the first of the good squares; the teacher never varies."""
    return good_moves(board)[0]


@cache
def blocking_moves(board: str) -> tuple[int, ...]:
    """Return the winning moves, or else the moves that leave the opponent the fewest winning moves."""

    def wins(position: str) -> list[int]:
        return [square for square in moves(position) if winner(after_move(position, square))]

    if wins(board):
        return tuple(wins(board))
    n_wins_after = {square: len(wins(after_move(board, square))) for square in moves(board)}
    return tuple(square for square, count in n_wins_after.items() if count == min(n_wins_after.values()))


def uniform_teacher(replies: Replies) -> Reply:
    """Return a teacher that plays each of these moves with equal probability."""
    return lambda board, rng: rng.choice(replies(board))


def exact_points(boxes: Boxes, replies: Replies) -> float:
    """Return MENACE's exact mean points per game against a teacher: 1 for a win, ½ for a draw."""
    points_by_board: dict[str, float] = {}

    def points_from(board: str) -> float:
        name, squares = colours(board)
        if name in points_by_board:
            return points_by_board[name]
        if not moves(board):
            return {"X": 1.0, "O": 0.0, "": 0.5}[winner(board)]
        if board.count("X") > board.count("O"):
            points_by_board[name] = statistics.fmean(
                points_from(after_move(board, square)) for square in replies(board)
            )
        elif len(moves(board)) == 1:
            points_by_board[name] = points_from(after_move(board, moves(board)[0]))
        else:
            beads = boxes.get(name) or [BEADS[board.count("X")]] * len(squares)
            after = (n * points_from(after_move(board, one[0])) for n, one in zip(beads, squares, strict=True) if n)
            points_by_board[name] = sum(after) / sum(beads) if any(beads) else 0.0
        return points_by_board[name]

    return points_from(EMPTY)


def play_tournament(seed: int, n_games: int = 220) -> tuple[int, int]:
    """Return the number of games until nine of the next ten are drawn against a habit, and the favourite opening.

    Openings are the colours of the first box: 0 for the corner, 1 for the edge, 2 for the centre.
    """
    rng, boxes = random.Random(seed), Boxes()
    open_box(boxes, EMPTY)
    draws = [play_game(boxes, habit_move, rng) == "draw" for _ in range(n_games)]
    steady = next((at for at in range(n_games - 9) if sum(draws[at : at + 10]) >= 9), n_games)
    first = boxes[colours(EMPTY)[0]]
    return steady, first.index(max(first))


def points_after_1000_games(seed: int, replies: Replies = blocking_moves) -> float:
    """Return the exact points of a MENACE after 1,000 games against a teacher."""
    rng, boxes = random.Random(seed), Boxes()
    for _ in range(N_GAMES):
        play_game(boxes, uniform_teacher(replies), rng)
    return exact_points(boxes, replies)


def checkpoints(max_games: int = 3000) -> list[int]:
    """Return the numbers of games at which a machine is measured."""
    return sorted({N_GAMES, *(math.ceil(max_games * (step / 30) ** 3) for step in range(31))})


def lessons_until(lesson: Callable[[], object], exact_points_now: Callable[[], float], required: float) -> float:
    """Return the number of lessons until the first check with the required points, or infinity."""
    n_done = 0
    for check in checkpoints():
        for _ in range(check - n_done):
            lesson()
        n_done = check
        if exact_points_now() >= required:
            return check
    return math.inf


def games_menace_needs(seed: int, replies: Replies, required: float) -> float:
    """Return the games that one MENACE needs for the required points against its teacher."""
    rng, boxes = random.Random(seed), Boxes()
    return lessons_until(
        lambda: play_game(boxes, uniform_teacher(replies), rng), lambda: exact_points(boxes, replies), required
    )


def habit_figures(n_tournaments: int) -> tuple[float, list[float]]:
    """Return the median of games until draws are steady, and the shares of the three favourite openings."""
    tournaments = [play_tournament(seed) for seed in range(n_tournaments)]
    shares = [sum(opening == one for _, opening in tournaments) / n_tournaments for one in range(3)]
    return statistics.median(steady for steady, _ in tournaments), shares


if __name__ == "__main__":
    steady, shares = habit_figures(500)
    sys.stdout.write(f"Taught by good moves by habit: steady after {steady:g} games; corner, edge, centre {shares}\n")
    points = [points_after_1000_games(seed) for seed in range(1000)]
    error = 1.96 * statistics.stdev(points) / len(points) ** 0.5
    sys.stdout.write(
        f"MENACE's points against win or block after 1,000 games: {statistics.fmean(points):.4f} ± {error:.4f}\n"
    )
    required = statistics.fmean(points_after_1000_games(seed, good_moves) for seed in range(1000))
    median_games = statistics.median(games_menace_needs(seed, good_moves, required) for seed in range(100))
    sys.stdout.write(f"Against perfect play: {required:.4f}; another MENACE has as many after {median_games:g} games\n")
