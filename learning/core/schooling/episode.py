"""One game of a schooling, move by move: what was drawn, and what was learnt from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from learning.core.machines.box_machine import BoxMachine, Change
from learning.core.opponents.base import Opponent
from learning.core.opponents.registry import UNIFORM
from learning.core.schooling.course import Stand
from learning.core.schooling.plan import Schooling
from learning.core.training.episodes import Episode, play_episode
from learning.core.training.strength import readable_machine


@dataclass(frozen=True)
class Lived:
    """A game as it was played and learnt from.

    Attributes:
        machine: the learner, readable, with what it knows after the game.
        episode: what the game was for the learner.
        changes: what that did to its boxes, in order of play.
        partner_changes: the same of the second machine, if that is the teacher.
    """

    machine: BoxMachine
    episode: Episode
    changes: list[Change]
    partner: BoxMachine | None
    partner_changes: list[Change]


def game_after(schooling: Schooling, stand: Stand) -> Lived:
    """The game that a machine plays next, and learns from."""
    learners, partners = stand.one.learners, stand.one.partners
    machine = readable_machine(learners.memory(0))
    partner = readable_machine(partners.memory(0)) if partners else None
    opponent: Opponent | BoxMachine = partner or UNIFORM[schooling.teacher]
    episode, other = play_episode(machine, opponent, learners.source(0))
    changes = machine.restock(episode.draws, episode.result, resigned=episode.resigned)
    partner_changes = partner.restock(other.draws, other.result, resigned=other.resigned) if partner else []
    return Lived(machine, episode, changes, partner, partner_changes)


def on_the_table(machine: BoxMachine, episode: Episode) -> list[tuple[Any, Any]]:
    """For each turn the move as it lies on a board that does not turn, and the position after it.

    Games are learnt on boards as boxes show them, so the board may turn between two moves. Of the ways to lay a
    symmetric one the first is taken: all are the same game. A resignation leaves the position as it is.
    """
    game, cabinet = machine.game, machine.cabinet
    position, lies = game.initial_position(), []
    for turn in episode.turns:
        move = turn.move
        if move is not None:
            move = game.transform_move(move, cabinet.placement(position))
            position = game.apply(position, move)
        lies.append((move, position))
    return lies
