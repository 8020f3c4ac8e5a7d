"""Replay a training run, written from docs/replay.md alone: ``python tests/replay.py menace|her|q-table SEED [GAMES]``.

The program imports no code of the project, so it checks the document. The machine is new, and learns from games against
random play. The program prints a line for each box or entry of the run, and the final state of the random source.
"""

from __future__ import annotations

import sys
from functools import cache

MASK, GOLDEN_RATIO, N_TICKETS = (1 << 64) - 1, 0x9E3779B97F4A7C15, 4294967295
FIRST, SECOND, DRAWN = 0, 1, 2


def mix(x: int) -> int:
    x = (x + GOLDEN_RATIO) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def rotl(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & MASK


class Source:
    def __init__(self, seed: int, stream: int = 0) -> None:
        mixed = mix(mix(seed) ^ stream)
        self.a, self.b = mix(mixed), mix((mixed + GOLDEN_RATIO) & MASK)

    def below(self, n: int) -> int:
        word = (rotl((self.a + self.b) & MASK, 17) + self.a) & MASK
        self.b ^= self.a
        self.a = rotl(self.a, 49) ^ self.b ^ ((self.b << 21) & MASK)
        self.b = rotl(self.b, 28)
        return ((word >> 32) * n) >> 32


Move = tuple[int, ...]
"""The squares that a move touches, 0 to 8."""


class Noughts:
    """Noughts and crosses. In both games the text of a position begins with its squares."""

    start = "........."
    symmetries = (
        *("012345678", "258147036", "876543210", "630741852"),
        *("210543876", "036147258", "678345012", "852741630"),
    )
    lines = ("012", "345", "678", "036", "147", "258", "048", "246")

    def side(self, board: str) -> int:
        return board.count("X") - board.count("O")

    def winner(self, board: str) -> int | None:
        marks = ["".join(board[int(square)] for square in line) for line in self.lines]
        going_on = None if "." in board else DRAWN
        return FIRST if "XXX" in marks else SECOND if "OOO" in marks else going_on

    def moves(self, board: str) -> list[Move]:
        return [(square,) for square in range(9) if board[square] == "."]

    def after(self, board: str, move: Move) -> str:
        return board[: move[0]] + "XO"[self.side(board)] + board[move[0] + 1 :]


class Hexapawn:
    """Hexapawn on three columns and three rows."""

    start = "ooo---OOO:1"
    symmetries = ("012345678", "210543876")

    def side(self, board: str) -> int:
        return int(board[-1]) - 1

    def winner(self, board: str) -> int | None:
        going_on = None if self.moves(board) else 1 - self.side(board)
        return FIRST if "O" in board[:3] else SECOND if "o" in board[6:9] else going_on

    def moves(self, board: str) -> list[Move]:
        own, other, step = ("O", "o", -3) if self.side(board) == FIRST else ("o", "O", 3)
        return [
            (start, end)
            for start in range(9)
            if board[start] == own
            for end in range(start + step - 1, start + step + 2)
            if 0 <= end < 9 and end // 3 == (start + step) // 3
            if board[end] == ("-" if end == start + step else other)
        ]

    def after(self, board: str, move: Move) -> str:
        squares = list(board[:9])
        squares[move[1]], squares[move[0]] = squares[move[0]], "-"
        return f"{''.join(squares)}:{2 - self.side(board)}"


Game = Noughts | Hexapawn


def image(board: str, symmetry: str) -> str:
    return "".join(board[symmetry.index(square)] for square in "012345678") + board[9:]


@cache
def canonical(game: Game, board: str) -> str:
    return min(image(board, symmetry) for symmetry in game.symmetries)


@cache
def classes(game: Game, board: str) -> list[list[Move]]:
    """Return the legal moves in classes; symmetries of the canonical board map moves of a class onto each other."""
    stabiliser = [symmetry for symmetry in game.symmetries if image(board, symmetry) == board]
    classes_by_images: dict[frozenset[Move], list[Move]] = {}
    for move in game.moves(board):
        images = frozenset(tuple(int(symmetry[square]) for square in move) for symmetry in stabiliser)
        classes_by_images.setdefault(images, []).append(move)
    return list(classes_by_images.values())


@cache
def next_board(game: Game, board: str, move: Move) -> str:
    return canonical(game, game.after(board, move))


def random_reply(game: Game, board: str, source: Source) -> str:
    return next_board(game, board, game.moves(board)[source.below(len(game.moves(board)))])


def replay_boxes(game: Game, side: int, initial: list[int], source: Source, n_games: int, *, is_her: bool):
    """Return the beads of every opened box. HER learns by ``gardner-her``, MENACE by ``michie-1961``."""
    boxes: dict[str, list[int]] = {}
    for _ in range(n_games):
        board, ply, path = canonical(game, game.start), 0, []
        while (winner := game.winner(board)) is None:
            if game.side(board) != side:
                board = random_reply(game, board, source)
            elif len(game.moves(board)) == 1 and not is_her:
                board = next_board(game, board, game.moves(board)[0])
            else:
                fresh = [initial[min(ply // 2, len(initial) - 1)]] * len(classes(game, board))
                beads = boxes.setdefault(board, fresh)
                if not sum(beads) and ply < 2:
                    beads[:] = fresh
                if not sum(beads):
                    winner = 1 - side
                    break
                ticket = source.below(sum(beads))
                slot = next(slot for slot in range(len(beads)) if sum(beads[: slot + 1]) > ticket)
                path.append((beads, slot))
                board = next_board(game, board, classes(game, board)[slot][0])
            ply += 1
        reward = 3 if winner == side else 1 if winner == DRAWN else -1
        for beads, slot in path:
            if not is_her:
                beads[slot] = min(max(beads[slot] + reward, 0), 1 << 27)
            elif winner != side and beads is path[-1][0]:
                beads[slot] = 0
    return boxes


def replay_q_table(game: Game, source: Source, n_games: int):
    """Return the value of every learnt entry, by its key."""
    values: dict[str, float] = {}
    for _ in range(n_games):
        side, board, path = source.below(2), canonical(game, game.start), []
        while (winner := game.winner(board)) is None:
            if game.side(board) != side:
                board = random_reply(game, board, source)
                continue
            moves, slots = game.moves(board), classes(game, board)
            keys = [f"{next(slot for slot in slots if move in slot)[0][0] + 1}#{board}" for move in moves]
            action_values = [values.get(key, 0.0) for key in keys]
            explores = source.below(N_TICKETS) < 0.1 * N_TICKETS
            candidates = [index for index, value in enumerate(action_values) if explores or value == max(action_values)]
            index = candidates[source.below(len(candidates))]
            path.append((keys[index], max(action_values)))
            board = next_board(game, board, moves[index])
        target = 0.0 if winner == DRAWN else 1.0 if winner == side else -1.0
        for key, best_value in reversed(path):
            value = values.get(key, 0.0)
            values[key] = value + 0.1 * (target - value)
            target = best_value
    return values


def replay(machine: str, source: Source, n_games: int):
    if machine == "q-table":
        return replay_q_table(Noughts(), source, n_games)
    if machine == "her":
        return replay_boxes(Hexapawn(), SECOND, [1], source, n_games, is_her=True)
    return replay_boxes(Noughts(), FIRST, [4, 3, 2, 1], source, n_games, is_her=False)


if __name__ == "__main__":
    source = Source(int(sys.argv[2]))
    results = replay(sys.argv[1], source, int((sys.argv[3:] or ["1000"])[0]))
    sys.stdout.write("".join(f"{key} {result}\n" for key, result in sorted(results.items())))
    sys.stdout.write(f"{source.a:016x}:{source.b:016x}\n")
