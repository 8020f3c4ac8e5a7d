"""An independent Q-learning of noughts and crosses, from Sutton and Barto (2018), section 6.5: a dictionary of values.

It imports no code of the project. ``python -m tests.independent.q_table`` prints the games until it has MENACE's points
against perfect play. It learns from a game after its end, from the last move to the first.
"""

from __future__ import annotations

import random
import statistics
import sys

from tests.independent.menace import (
    EMPTY,
    Replies,
    after_move,
    colours,
    good_moves,
    lessons_until,
    moves,
    points_after_1000_games,
    uniform_teacher,
    winner,
)

STEP_SIZE, EXPLORATION_RATE = 0.1, 0.1

Entry = tuple[str, int]
"""A board up to symmetry, and the class of its moves."""
Values = dict[Entry, float]


def entries(board: str) -> list[Entry]:
    """Return the entry of each legal move, in the order of the squares."""
    name, classes = colours(board)
    return [(name, next(at for at, one in enumerate(classes) if square in one)) for square in moves(board)]


def to_move(board: str) -> str:
    """Return the sign of the side to move."""
    return "X" if board.count("X") == board.count("O") else "O"


def result(board: str, seat: str) -> int:
    """Return 1, 0 or −1 for a seat when the game is over."""
    return 0 if not winner(board) else 1 if winner(board) == seat else -1


def best_indices(worths: list[float]) -> list[int]:
    """Return the indices of the greatest values."""
    return [number for number, worth in enumerate(worths) if worth == max(worths)]


def game(values: Values, seat: str, replies: Replies, rng: random.Random) -> None:
    """Play a game against a teacher and learn from it."""
    board, path = EMPTY, list[tuple[Entry, float]]()
    while moves(board):
        if to_move(board) != seat:
            board = after_move(board, uniform_teacher(replies)(board, rng))
            continue
        found = entries(board)
        worths = [values.get(entry, 0.0) for entry in found]
        explores = rng.random() < EXPLORATION_RATE
        number = rng.randrange(len(found)) if explores else rng.choice(best_indices(worths))
        path.append((found[number], max(worths)))
        board = after_move(board, moves(board)[number])
    target = float(result(board, seat))
    for entry, ahead in reversed(path):
        value = values.get(entry, 0.0)
        values[entry] = value + STEP_SIZE * (target - value)
        target = ahead


def points(values: Values, seat: str, replies: Replies) -> float:
    """Return the exact mean points of greedy play against a teacher: 1 for a win, ½ for a draw."""
    known: dict[str, float] = {}

    def of(board: str) -> float:
        if not moves(board):
            return (result(board, seat) + 1) / 2
        name = colours(board)[0]
        if name not in known:
            if to_move(board) == seat:
                chosen = best_indices([values.get(entry, 0.0) for entry in entries(board)])
                known[name] = statistics.fmean(of(after_move(board, moves(board)[number])) for number in chosen)
            else:
                known[name] = statistics.fmean(of(after_move(board, square)) for square in replies(board))
        return known[name]

    return of(EMPTY)


def q_needs(seed: int, seat: str, replies: Replies, required: float) -> float:
    """Return the games that one machine in a seat needs for the required points against its teacher."""
    rng, values = random.Random(seed), Values()
    return lessons_until(lambda: game(values, seat, replies, rng), lambda: points(values, seat, replies), required)


def train_both_seats(seed: int, replies: Replies, n_games: int) -> Values:
    """Train a machine with a random seat in each game and return its values."""
    rng, values = random.Random(seed), Values()
    for _ in range(n_games):
        game(values, rng.choice("XO"), replies, rng)
    return values


if __name__ == "__main__":
    required = statistics.fmean(points_after_1000_games(seed, good_moves) for seed in range(1000))
    middle = statistics.median(q_needs(seed, "X", good_moves, required) for seed in range(100))
    sys.stdout.write(f"Moves first, taught by perfect play: {required:.4f} points after {middle:g} games\n")
