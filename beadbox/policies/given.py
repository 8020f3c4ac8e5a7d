"""Policies that a program outside the library defines: probabilities of moves, with positions and moves as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from beadbox.errors import PolicyError
from beadbox.policies.opponent import Opponent
from beadbox.rules.chance import Random
from beadbox.rules.errors import IllegalMoveError
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.strength.exact import Floats
from beadbox.strength.graph import Graph

CHANCE_PARTS = 1 << 31
"""Equal parts of the chance 1 from which a move is drawn."""
SUM_TOLERANCE = 1e-9
"""Difference from 1 up to which a sum of probabilities is taken for 1."""


@runtime_checkable
class Policy(Protocol):
    """Anything that gives the probability of each move of a position.

    An object with this method can be evaluated, trained against and entered in a tournament. Where it plays one side,
    it is asked only about positions in which that side is to move.

    >>> import beadbox as bb
    >>> class Corner:
    ...     def probabilities(self, position):
    ...         moves = bb.games["noughts-and-crosses"].legal_moves(position)
    ...         return {next((move for move in ("1", "3", "7", "9") if move in moves), moves[0]): 1.0}
    >>> bb.evaluate(Corner(), "perfect", game="noughts-and-crosses", side="first").win
    0.0
    """

    def probabilities(self, position: str) -> Mapping[str, float]:
        """Return the probability of each move; moves that are left out have 0. They sum to 1."""


class PolicyOpponent(Opponent):
    """A policy as a fixed opponent, which draws a move at each turn. It is the same for all games."""

    slug = "policy"
    name = "A policy"
    summary = "Draws each move with the probability that a program gives."

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """Draw a move; takes exactly one random word."""
        left, drawn = rng.below(CHANCE_PARTS) / CHANCE_PARTS, None
        for move, chance in checked_probabilities(self.policy, game, position).items():
            if chance > 0.0:
                drawn, left = move, left - chance
                if left < 0.0:
                    break
        return drawn


def checked_probabilities(policy: Policy, game: AnyGame, position: AnyPosition) -> dict[AnyMove, float]:
    """Return the probability that a policy gives to each legal move, in their order.

    Raises:
        IllegalMoveError: the policy names a move that is not legal here.
        PolicyError: the policy gives no dictionary, a probability is no number from 0 to 1, or they do not sum to 1.
    """
    text = game.encode(position)
    probabilities = policy.probabilities(text)
    if not isinstance(probabilities, Mapping):
        raise PolicyError(
            f"The policy gives {probabilities!r} in {text!r}. Give a dictionary of moves and probabilities."
        )
    legal = {game.format_move(move): move for move in game.legal_moves(position)}
    for name, chance in probabilities.items():
        if name not in legal:
            raise IllegalMoveError(f"The policy gives {name!r} in {text!r}. The legal moves: {', '.join(legal)}.")
        if isinstance(chance, bool) or not isinstance(chance, int | float | np.floating | np.integer):
            raise PolicyError(f"The policy gives {name!r} the probability {chance!r} in {text!r}. Give a number.")
        if not isfinite(chance) or not 0.0 <= chance <= 1.0 + SUM_TOLERANCE:
            raise PolicyError(f"The policy gives {name!r} the probability {chance} in {text!r}. Give 0 to 1.")
    total = sum(map(float, probabilities.values()))
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise PolicyError(f"The probabilities in {text!r} sum to {total:.12g}. They have to sum to 1.")
    return {move: float(probabilities.get(name, 0.0)) for name, move in legal.items()}


@dataclass(frozen=True)
class PolicyTable:
    """A policy as a table of a listable game. A policy need not be symmetric, so it is asked about every board.

    Attributes:
        side: the side that it plays here; ``None`` if it plays both.
    """

    source_policy: Policy
    side: Side | None
    is_reduced: ClassVar[bool] = False

    def policy(self, graph: Graph) -> Floats:
        """Return the probability of each edge: ``(n_edges,)``, 0 where the policy does not move.

        Raises:
            IllegalMoveError, PolicyError: as in :func:`checked_probabilities`.
        """
        found = np.zeros(len(graph.successor))
        for node, position in enumerate(graph.positions):
            if self.side in (None, graph.side[node]):
                chances = checked_probabilities(self.source_policy, graph.game, position)
                found[graph.indptr[node] : graph.indptr[node + 1]] = list(chances.values())
        return found
