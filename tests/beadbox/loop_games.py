"""Raw boards of small games with loops, as graphs of all positions: a board and the side to move."""

from collections.abc import Callable, Iterator

import numpy as np

from beadbox.kernels.graph_arrays import GraphArrays

Board = tuple[str, int]
PONG_LINES = ((0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4))
"""Points: upper left, upper right, centre, lower left, lower right; no line along the top."""


def graph_of(start: Board, replies: Callable[[Board], list[Board]]) -> GraphArrays:
    """Return the graph of all positions that the start leads to. The side that cannot move loses."""
    nodes, queue, edges = {start: 0}, [start], []
    while queue:
        position = queue.pop(0)
        after = replies(position)
        edges.append((position, after))
        for one in after:
            if one not in nodes and replies(one):
                nodes[one] = len(nodes)
                queue.append(one)
    indptr, successor = [0], []
    for position, after in edges:
        successor += [nodes[one] if one in nodes else -1 - position[1] for one in after]
        indptr.append(len(successor))
    side = np.array([position[1] for position, _ in edges], np.int8)
    return GraphArrays(np.array(indptr, np.int32), np.array(successor, np.int32), side)


def pong_hau_ki() -> GraphArrays:
    """The graph of Pong hau k'i: two stones each on five points."""

    def replies(position: Board) -> list[Board]:
        board, side = position
        empty = board.index(".")
        near = sorted(b if a == empty else a for a, b in PONG_LINES if empty in (a, b))
        return [(_board_after(board, point, empty), 1 - side) for point in near if board[point] == "12"[side]]

    return graph_of(("11.22", 0), replies)


def mu_torere() -> GraphArrays:
    """The graph of Mu Torere: eight points in a circle (0 to 7) and the centre (8), four pieces each."""

    def moves(board: str, side: int) -> Iterator[tuple[int, int]]:
        own, other, empty = "12"[side], "21"[side], board.index(".")
        for point in range(9):
            if board[point] != own:
                continue
            neighbours = [(point - 1) % 8, (point + 1) % 8]
            if (
                point == 8
                or (empty != 8 and empty in neighbours)
                or (empty == 8 and any(board[near] == other for near in neighbours))
            ):
                yield point, empty

    def replies(position: Board) -> list[Board]:
        board, side = position
        return [(_board_after(board, *move), 1 - side) for move in moves(board, side)]

    return graph_of(("11112222.", 0), replies)


def ring(n: int) -> GraphArrays:
    """A circle of positions, each of which leads to the next or to a win of the first side."""
    successor = np.column_stack([np.roll(np.arange(n), -1), np.full(n, -1)])
    return GraphArrays(np.arange(0, 2 * n + 1, 2, np.int32), successor.ravel().astype(np.int32), np.zeros(n, np.int8))


def _board_after(board: str, point: int, empty: int) -> str:
    squares = list(board)
    squares[empty], squares[point] = squares[point], "."
    return "".join(squares)
