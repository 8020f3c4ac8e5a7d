"""How a question about a game is read and answered: in the words of its own family, or in those of any game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyPosition

QuestionT = TypeVar("QuestionT")

PolicyT = TypeVar("PolicyT")
"""What an adviser asks of a machine."""


class Adviser(ABC, Generic[QuestionT, PolicyT]):
    """Reads questions about games and answers them. It holds no state: share it freely."""

    @abstractmethod
    def read(self, game: AnyGame, fields: Mapping[str, object]) -> QuestionT:
        """The question about a board of this game.

        Raises:
            AdviceError: with the first of the fixed texts that applies.
        """

    @abstractmethod
    def asked(self, question: QuestionT) -> tuple[AnyGame, AnyPosition]:
        """The game and the position that the question is about; the game may have more additions than the one named."""

    @abstractmethod
    def start(self, game: AnyGame) -> QuestionT:
        """A question about the beginning of a game, for who warms up or wants to know whether there are answers."""

    @abstractmethod
    def move(self, question: QuestionT, rng: Random, *, time_limit_s: float) -> dict[str, object]:
        """What to play, and how it compares with other moves; ``rng`` decides among moves that are liked equally."""

    @abstractmethod
    def machine(self, question: QuestionT, frozen_policy: PolicyT, rng: Random) -> dict[str, object]:
        """What a machine plays, which learns nothing from being asked."""

    @abstractmethod
    def evaluation(self, question: QuestionT) -> dict[str, object]:
        """What the board is worth for the side that asks, and the legal moves."""

    @abstractmethod
    def form(self, game: AnyGame) -> dict[str, object]:
        """What the page of questions asks about a game.

        ``pieces``: (text, words) of each that can be placed, none if no board can be set up by hand;
        ``types``: of pieces that are sent in parts the letter, name and number of rotations;
        ``sides``: (what is sent, words) of each side; ``flips``: whether flip mode is offered; ``levels``: (what is
        sent, words) of each, the weakest first, without flip mode and with it, if it is offered;
        ``in_points``: whether values are points, and not the result of the game.
        """


AnyAdviser: TypeAlias = Adviser[object, object]
"""An adviser of games that are not known. It answers the questions that it has read, by minds of machines that fit."""
