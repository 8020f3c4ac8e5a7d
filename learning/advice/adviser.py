"""The interface of advisers. An adviser parses and answers questions about boards of some games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyPosition

QuestionT = TypeVar("QuestionT")

PolicyT = TypeVar("PolicyT")
"""The type of the machines that an adviser uses. These machines do not learn."""


class Adviser(ABC, Generic[QuestionT, PolicyT]):
    """Parses and answers questions about boards. An adviser has no state, so threads may share it."""

    @abstractmethod
    def read(self, game: AnyGame, fields: Mapping[str, object]) -> QuestionT:
        """Parse the fields of a question about a board of this game (docs/ai.md).

        Raises:
            AdviceError: the fields are invalid; the message is the first fixed text that applies.
        """

    @abstractmethod
    def game_and_position(self, question: QuestionT) -> tuple[AnyGame, AnyPosition]:
        """Return the game and the position of a question.

        The question may add options to the game that it names, so the game may differ from that of ``read``.
        """

    @abstractmethod
    def start(self, game: AnyGame) -> QuestionT:
        """Return a question about the initial position, for warm-up and for checks that the adviser can answer."""

    @abstractmethod
    def move(self, question: QuestionT, rng: Random, *, time_limit_s: float) -> dict[str, object]:
        """Return the move to play, as JSON, and a comparison with other moves; ``rng`` breaks ties."""

    @abstractmethod
    def machine(self, question: QuestionT, frozen_policy: PolicyT, rng: Random) -> dict[str, object]:
        """Return the move that a machine plays, as JSON, and a comparison; the machine does not learn from it."""

    @abstractmethod
    def evaluation(self, question: QuestionT) -> dict[str, object]:
        """Return the value of the board for the side that asks, and the legal moves, as JSON."""

    @abstractmethod
    def form(self, game: AnyGame) -> dict[str, object]:
        """Return the choices of the question form for a game.

        ``pieces``, ``sides`` and the lists of ``levels`` have pairs of a submitted value and its label.

        * ``pieces``: the pieces that a person can put on the board; empty if no board can be set up by hand.
        * ``types``: letter, name and number of rotations of the kinds of piece; only if a request has an object for
          each piece.
        * ``sides``: the two sides.
        * ``levels``: one list of levels, weakest first; and a second list for flip mode, if the game offers it.
        * ``flips``: whether flip mode is offered.
        * ``in_points``: whether values are points instead of game results.
        """


AnyAdviser: TypeAlias = Adviser[object, object]
"""An adviser of any type. It answers only questions that it has parsed itself, with machines of its own games."""
