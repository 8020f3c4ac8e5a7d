"""Reasons for the moves of a machine with boxes."""

from __future__ import annotations

from typing import Any

from beadbox.learners.boxes.machine import BoxMachine
from beadbox.rules.errors import InvalidPositionError
from learning.exceptions import BoxNotFoundError
from learning.kinds.boxes.look import box_view, placement_view, slots_view
from learning.models import Machine


def why_view(machine: Machine, text: str) -> dict[str, Any]:
    """Return the machine's choice in a position, which may be given in any orientation, with the reasons.

    Each legal move, in the orientation of ``text``, has its slot, the beads of the slot, and its exact probability. A
    forced move that needs no box has no slot. A box that is not yet opened has its initial beads.

    Raises:
        BoxNotFoundError: the text is no position, the game is over there, or the other side is to move.
    """
    cabinet = machine.cabinet
    game = cabinet.game
    try:
        position = game.decode_as(text, cabinet.side)
    except InvalidPositionError as error:
        raise BoxNotFoundError(error.sentence) from None
    if game.is_terminal(position):
        raise BoxNotFoundError("The game is over there: nobody has to choose.")
    if game.side_to_move(position) != machine.side:
        raise BoxNotFoundError(f"It is the other side's turn there; {machine.name} {machine.get_side_display()}.")
    printed, placement = cabinet.box_and_placement(position)
    key = game.encode(printed)
    box = machine.boxes.filter(position=key).first()
    has_box = cabinet.has_box(position)
    beads = list(box.beads) if box else cabinet.initial_beads(printed) if has_box else []
    readable_machine = BoxMachine(game, cabinet.side, cabinet.rule, {key: list(beads)} if has_box else {})
    policy = readable_machine.policy(position)
    slots = slots_view(cabinet, printed)
    moves = []
    for move, probability in policy.items():
        printed_move = game.transform_move(move, game.inverses[placement])
        slot = cabinet.slot_index(printed, printed_move) if has_box else None
        moves.append(
            {
                "move": game.format_move(move),
                "name": game.presentation.describe_move(move),
                "cells": list(game.path(move)),
                "slot": slot,
                "colour": None if slot is None else slots[slot]["colour"],
                "mark": None if slot is None else slots[slot]["mark"],
                "beads": None if slot is None else beads[slot],
                "probability": probability,
            }
        )
    return {
        "position": text,
        "board": list(game.pieces(position)),
        "symmetry": placement_view(placement),
        "box": None if box is None else box_view(cabinet, box),
        "box_position": key if has_box else None,
        "forced": not has_box,
        "resigns": not any(policy.values()),
        "moves": moves,
    }


def explore_view(machine: Machine, text: str) -> dict[str, Any]:
    """Return a position to explore: the side to move, where each move leads, and the reasons for the machine's move.

    Raises:
        BoxNotFoundError: the text is no position of the game.
    """
    game = machine.game_rules
    try:
        position = game.decode_as(text, machine.cabinet.side)
    except InvalidPositionError as error:
        raise BoxNotFoundError(error.sentence) from None
    outcome, side = game.outcome(position), game.side_to_move(position)
    moves = [
        {
            "move": game.format_move(move),
            "name": game.presentation.describe_move(move),
            "path": game.presentation.path_ids(move),
            "next": game.encode(game.apply(position, move)),
        }
        for move in game.legal_moves(position)
    ]
    ending = None
    if outcome is not None:
        subject = (
            "No one" if outcome.winner is None else game.presentation.layout.role_names[outcome.winner].capitalize()
        )
        ending = f"{subject} won: {game.presentation.reasons[outcome.termination]}."
    is_its_turn = outcome is None and side == machine.side
    return {
        "position": text,
        "board": list(game.pieces(position)),
        "role": game.presentation.layout.roles[side],
        "over": ending,
        "moves": moves,
        "why": why_view(machine, text) if is_its_turn else None,
    }
