"""Q-learning of noughts and crosses once more, from Sutton and Barto (2018), section 6.5: values in a dictionary.

It imports nothing of the project. ``python -m tests.independent.q_table`` prints after how many games it has MENACE's
points against perfect play. A game is learnt from when it is over, from its last move to its first.
"""

from __future__ import annotations

import random
import statistics
import sys

from tests.independent.menace import EMPTY, Replies, any_of, colours, good, mark, moves, needed, played, winner

STEP, EXPLORES = 0.1, 0.1

Entry = tuple[str, int]
"""A board up to symmetry, and the class of its moves."""
Values = dict[Entry, float]


def entries(board: str) -> list[Entry]:
    """The entry of each legal move, in the order of the squares."""
    name, classes = colours(board)
    return [(name, next(at for at, one in enumerate(classes) if square in one)) for square in moves(board)]


def to_move(board: str) -> str:
    """The sign whose turn it is."""
    return "X" if board.count("X") == board.count("O") else "O"


def result(board: str, seat: str) -> int:
    """1, 0 or −1 for a seat when the game is over."""
    return 0 if not winner(board) else 1 if winner(board) == seat else -1


def best(worths: list[float]) -> list[int]:
    """The numbers of the greatest worths."""
    return [number for number, worth in enumerate(worths) if worth == max(worths)]


def game(values: Values, seat: str, replies: Replies, rng: random.Random) -> None:
    """Play a game against a teacher and learn from it."""
    board, path = EMPTY, list[tuple[Entry, float]]()
    while moves(board):
        if to_move(board) != seat:
            board = played(board, any_of(replies)(board, rng))
            continue
        found = entries(board)
        worths = [values.get(entry, 0.0) for entry in found]
        explores = rng.random() < EXPLORES
        number = rng.randrange(len(found)) if explores else rng.choice(best(worths))
        path.append((found[number], max(worths)))
        board = played(board, moves(board)[number])
    target = float(result(board, seat))
    for entry, ahead in reversed(path):
        value = values.get(entry, 0.0)
        values[entry] = value + STEP * (target - value)
        target = ahead


def points(values: Values, seat: str, replies: Replies) -> float:
    """Exact mean points of greedy play in a game against a teacher: 1 for a win, ½ for a draw."""
    known: dict[str, float] = {}

    def of(board: str) -> float:
        if not moves(board):
            return (result(board, seat) + 1) / 2
        name = colours(board)[0]
        if name not in known:
            if to_move(board) == seat:
                chosen = best([values.get(entry, 0.0) for entry in entries(board)])
                known[name] = statistics.fmean(of(played(board, moves(board)[number])) for number in chosen)
            else:
                known[name] = statistics.fmean(of(played(board, square)) for square in replies(board))
        return known[name]

    return of(EMPTY)


def q_needs(seed: int, seat: str, replies: Replies, wanted: float) -> float:
    """Games of one machine in a seat until it takes as many points from its teacher."""
    rng, values = random.Random(seed), Values()
    return needed(lambda: game(values, seat, replies, rng), lambda: points(values, seat, replies), wanted)


def both_seats(seed: int, replies: Replies, n_games: int) -> Values:
    """The values of a machine whose seat a coin chose before each game."""
    rng, values = random.Random(seed), Values()
    for _ in range(n_games):
        game(values, rng.choice("XO"), replies, rng)
    return values


if __name__ == "__main__":
    wanted = statistics.fmean(mark(seed, good) for seed in range(1000))
    middle = statistics.median(q_needs(seed, "X", good, wanted) for seed in range(100))
    sys.stdout.write(f"Moves first, taught by perfect play: {wanted:.4f} points after {middle:g} games\n")
