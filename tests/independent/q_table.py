"""An independent Q-learning of noughts and crosses, from Sutton and Barto (2018), section 6.5: a dictionary of values.

The program imports no code of the project. ``python -m tests.independent.q_table`` prints the number of games until a
machine has MENACE's points against perfect play. A machine learns after each game, from the last move to the first.
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


def sign_to_move(board: str) -> str:
    """Return the sign of the side to move."""
    return "X" if board.count("X") == board.count("O") else "O"


def seat_result(board: str, seat: str) -> int:
    """Return 1, 0 or −1 for a seat when the game is over."""
    return 0 if not winner(board) else 1 if winner(board) == seat else -1


def best_indices(move_values: list[float]) -> list[int]:
    """Return the indices of the greatest values."""
    return [index for index, move_value in enumerate(move_values) if move_value == max(move_values)]


def play_game(values: Values, seat: str, replies: Replies, rng: random.Random) -> None:
    """Play a game against a teacher and learn from it."""
    board, path = EMPTY, list[tuple[Entry, float]]()
    while moves(board):
        if sign_to_move(board) != seat:
            board = after_move(board, uniform_teacher(replies)(board, rng))
            continue
        found = entries(board)
        move_values = [values.get(entry, 0.0) for entry in found]
        explores = rng.random() < EXPLORATION_RATE
        index = rng.randrange(len(found)) if explores else rng.choice(best_indices(move_values))
        path.append((found[index], max(move_values)))
        board = after_move(board, moves(board)[index])
    target = float(seat_result(board, seat))
    for entry, best_value in reversed(path):
        value = values.get(entry, 0.0)
        values[entry] = value + STEP_SIZE * (target - value)
        target = best_value


def greedy_points(values: Values, seat: str, replies: Replies) -> float:
    """Return the exact mean points of greedy play against a teacher: 1 for a win, ½ for a draw."""
    points_by_board: dict[str, float] = {}

    def points_from(board: str) -> float:
        if not moves(board):
            return (seat_result(board, seat) + 1) / 2
        name = colours(board)[0]
        if name not in points_by_board:
            if sign_to_move(board) == seat:
                chosen = best_indices([values.get(entry, 0.0) for entry in entries(board)])
                points_by_board[name] = statistics.fmean(
                    points_from(after_move(board, moves(board)[index])) for index in chosen
                )
            else:
                points_by_board[name] = statistics.fmean(
                    points_from(after_move(board, square)) for square in replies(board)
                )
        return points_by_board[name]

    return points_from(EMPTY)


def games_q_learning_needs(seed: int, seat: str, replies: Replies, required: float) -> float:
    """Return the games that one machine in a seat needs for the required points against its teacher."""
    rng, values = random.Random(seed), Values()
    return lessons_until(
        lambda: play_game(values, seat, replies, rng), lambda: greedy_points(values, seat, replies), required
    )


def train_both_seats(seed: int, replies: Replies, n_games: int) -> Values:
    """Train a machine with a random seat in each game and return its values."""
    rng, values = random.Random(seed), Values()
    for _ in range(n_games):
        play_game(values, rng.choice("XO"), replies, rng)
    return values


if __name__ == "__main__":
    required = statistics.fmean(points_after_1000_games(seed, good_moves) for seed in range(1000))
    median_games = statistics.median(games_q_learning_needs(seed, "X", good_moves, required) for seed in range(100))
    sys.stdout.write(f"Moves first, taught by perfect play: {required:.4f} points after {median_games:g} games\n")
