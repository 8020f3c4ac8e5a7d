"""The final of a class: the steps that its worker computes, and the results of these steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy as np

from beadbox.learners.memory import AnyMemory
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.exact import Floats
from beadbox.tournaments.class_final import Chooser, pairs_chances, ranking, typical_match
from learning.exceptions import ClassRefusedError
from learning.kinds.boxes.final import final_draw, final_player, make_readable, memories_load, notable_boxes
from learning.models import (
    SIDE_CHOICES,
    Classroom,
    FinalMatch,
    FinalResults,
    Machine,
    NotableBoxes,
    Participant,
    PupilPlace,
    class_sides,
)
from learning.selectors.classrooms import pupils_of

Step = list[float] | NotableBoxes
"""A step of a final: the chances of a pair, or the notable boxes of a pupil's machine."""


def sides_require(classroom: Classroom, sides: Collection[int | None]) -> None:
    """Refuse a final without a machine on each of its sides.

    Raises:
        ClassRefusedError: a side has no machine.
    """
    for side in class_sides(classroom.side):
        if side not in sides:
            raise ClassRefusedError(f"The final needs a machine that {dict(SIDE_CHOICES)[side]}. No pupil has one.")


def final_games(classroom: Classroom) -> FinalGames:
    """Return the games of the final of a class, with the present memories of the machines.

    Raises:
        ClassRefusedError: a side has no machine.
    """
    pupils = pupils_of(classroom)
    machines = [_machine(pupil) for pupil in pupils]
    sides_require(classroom, {machine.side for machine in machines})
    memories = memories_load(machines, is_listed=classroom.game_rules.listable)
    return FinalGames(classroom, classroom.game_rules, pupils, memories)


@dataclass(frozen=True, slots=True)
class FinalGames:
    """The games of a final: the pupils of the class, and the memories of their machines by id."""

    classroom: Classroom
    game: AnyGame
    pupils: Sequence[Participant]
    memories: Mapping[int, AnyMemory]

    @property
    def entrants(self) -> list[list[int]]:
        """The entrants as :class:`ClassFinal` stores them."""
        return [[pupil.number, _machine(pupil).pk, _machine(pupil).n_lessons] for pupil in self.pupils]

    @property
    def n_pairs(self) -> int:
        return len(self._side(Side.FIRST)) * len(self._side(Side.SECOND))

    @property
    def n_steps(self) -> int:
        """The number of steps: one for each pair, and one for each pupil."""
        return self.n_pairs + len(self.pupils)

    def steps(self, n_done: int) -> Iterator[Step]:
        """Yield the steps after the first ``n_done``: the chances of each pair, then the boxes of each pupil."""
        firsts, seconds = ([self._player(one) for one in self._side(side)] for side in Side)
        for chances in pairs_chances(self.game, firsts, seconds, n_done):
            yield chances.tolist()
        for pupil in islice(self.pupils, max(0, n_done - self.n_pairs), None):
            yield notable_boxes(self._memory(pupil))

    def results(self, found: Sequence[Step]) -> FinalResults:
        """Return the results of all steps."""
        shape = (len(self._side(Side.FIRST)), len(self._side(Side.SECOND)), 4)
        chances = np.array(found[: self.n_pairs], float).reshape(shape)
        places = [place for side in Side for place in self._places(side, chances)]
        boxes = zip(self.pupils, found[self.n_pairs :], strict=True)
        return {
            "places": places,
            "boxes": {str(pupil.number): cast("NotableBoxes", notable) for pupil, notable in boxes},
            "match": self._match(places, chances),
        }

    def _side(self, side: Side) -> list[Participant | None]:
        """Return the pupils of a side. ``[None]`` stands for the fixed opponent if no pupil is on the side."""
        if self.classroom.side not in (None, side):
            return [None]
        return [pupil for pupil in self.pupils if _machine(pupil).side == side]

    def _memory(self, pupil: Participant) -> AnyMemory:
        return self.memories[_machine(pupil).pk]

    def _player(self, pupil: Participant | None) -> ContestPlayer:
        if pupil is None:
            opponent = UNIFORM[self.classroom.opponent]
            return ContestPlayer(opponent, opponent)
        return final_player(self._memory(pupil))

    def _places(self, side: Side, chances: Floats) -> Iterator[PupilPlace]:
        pupils = [pupil for pupil in self._side(side) if pupil is not None]
        for place in ranking(self.game, side, chances, [pupil.public_name for pupil in pupils]) if pupils else ():
            strength = place.strength
            yield {
                "number": pupils[place.index].number,
                "side": side,
                "place": place.place,
                "points": strength.score,
                "win": strength.win,
                "draw": strength.draw,
                "loss": strength.loss,
                "endless": strength.endless,
            }

    def _match(self, places: Sequence[PupilPlace], chances: Floats) -> FinalMatch:
        """Return a typical match between the best machine of each side, or of the best machine and the opponent."""
        best = [next((place["number"] for place in places if place["side"] == side), None) for side in Side]
        sides = [self._side(side) for side in Side]
        rows = [[one and one.number for one in players].index(best[side]) for side, players in enumerate(sides)]
        first, second = (self._chooser(players[row]) for players, row in zip(sides, rows, strict=True))
        typical = typical_match(self.game, first, second, chances[rows[0], rows[1]])
        turns = [(self.game.encode(position), self.game.format_move(move)) for position, move in typical.game.turns]
        if typical.game.resigned is not None:
            position, move = typical.game.turns[-1] if turns else (self.game.initial_position(), None)
            turns.append((self.game.encode(position if move is None else self.game.apply(position, move)), ""))
        return {
            "pupils": best,
            "plies": [
                {"position": position, "move": move, "draw": final_draw(typical.draws.get(ply))}
                for ply, (position, move) in enumerate(turns)
            ],
            "winner": typical.game.outcome.winner,
        }

    def _chooser(self, pupil: Participant | None) -> Chooser:
        if pupil is None:
            mover = UNIFORM[self.classroom.opponent].mover(self.game)
            return lambda position, rng: (mover(position, rng), None)
        return make_readable(self._memory(pupil)).choose


def _machine(pupil: Participant) -> Machine:
    assert pupil.machine is not None, "pupils_of returns only pupils with a machine"
    return pupil.machine
