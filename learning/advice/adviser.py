"""The interface of advisers, which parse and answer questions about games of one family or of any game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyPosition

QuestionT = TypeVar("QuestionT")

PolicyT = TypeVar("PolicyT")
"""The view of a machine that an adviser needs."""


class Adviser(ABC, Generic[QuestionT, PolicyT]):
    """Parser and answerer of questions about games. An adviser has no state, so threads may share it."""

    @abstractmethod
    def read(self, game: AnyGame, fields: Mapping[str, object]) -> QuestionT:
        """Parse a question about a board of this game.

        Raises:
            AdviceError: the fields are invalid; the message is the first fixed text that applies.
        """

    @abstractmethod
    def asked(self, question: QuestionT) -> tuple[AnyGame, AnyPosition]:
        """Return the game and the position of a question; the game may have more options than the one named."""

    @abstractmethod
    def start(self, game: AnyGame) -> QuestionT:
        """Return a question about the initial position, for warm-up and for checks that the adviser can answer."""

    @abstractmethod
    def move(self, question: QuestionT, rng: Random, *, time_limit_s: float) -> dict[str, object]:
        """Return the move to play and a comparison with other moves; ``rng`` breaks ties."""

    @abstractmethod
    def machine(self, question: QuestionT, frozen_policy: PolicyT, rng: Random) -> dict[str, object]:
        """Return the move that a machine plays; the machine learns nothing from the question."""

    @abstractmethod
    def evaluation(self, question: QuestionT) -> dict[str, object]:
        """Return the value of the board for the side that asks, and the legal moves."""

    @abstractmethod
    def form(self, game: AnyGame) -> dict[str, object]:
        """Return the choices of the question form for a game.

        Choices are pairs of the submitted value and its label.

        * ``pieces``: the pieces that can be placed; empty if no board can be set up by hand.
        * ``types``: letter, name and number of rotations of pieces that are submitted in parts.
        * ``sides``: the two sides.
        * ``levels``: the levels, weakest first; a second list for flip mode, if offered.
        * ``flips``: whether flip mode is offered.
        * ``in_points``: whether values are points instead of game results.
        """


AnyAdviser: TypeAlias = Adviser[object, object]
"""An adviser of an unknown family. It answers only the questions it has parsed, with machines of that family."""
