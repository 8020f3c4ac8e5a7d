"""Files of recorded games: ``{"games": [{"moves": ["b1b2", …], "winner": 1}]}``; a winner is 1, 2 or ``"draw"``.

The rules of the game check each winner. If the recorded moves do not end the game, the side to move has resigned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beadbox.learners.boxes.exchange.document import BoxData, MachineData, boxes_sorted
from beadbox.learners.boxes.replay import RecordedGame, Trainee
from beadbox.learners.boxes.rule import OpenBoxes
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.exchange import json_text
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.rules.errors import RulesError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side

if TYPE_CHECKING:
    from beadbox.learners.boxes.exchange import shapes


def load(text: str, game: AnyGame) -> tuple[RecordedGame, ...]:
    """Return the games in a file, checked by the rules of the game.

    Raises:
        ExchangeError: the file is invalid; the error names the place.
    """
    from beadbox.learners.boxes.exchange import shapes  # only when a file is read
    from beadbox.learners.exchange import schemas  # only when a file is read

    file = schemas.read(shapes.GamesFile, json_text.parse(text))
    return tuple(_game(game, fields, f"games[{index}]") for index, fields in enumerate(file.games))


def _game(game: AnyGame, fields: shapes.GameFields, where: str) -> RecordedGame:
    position, moves = game.initial_position(), []
    for index, text in enumerate(fields.moves):
        place = f"{where}.moves[{index}]"
        if game.is_terminal(position):
            raise ExchangeError(place, "ended_game", position=repr(game.encode(position)))
        try:
            move = game.parse_move(text)
            position = game.play(position, move)
        except RulesError as error:
            raise ExchangeError(place, "move", problem=error.sentence) from None
        moves.append(move)
    winner = Side(fields.winner - 1) if isinstance(fields.winner, int) else None
    outcome, to_move, roles = game.outcome(position), game.side_to_move(position), game.presentation.layout.role_names
    if outcome is None:
        if winner is not to_move.other:
            raise ExchangeError(f"{where}.winner", "gave_up", role=roles[to_move])
        return RecordedGame(tuple(moves), winner, resigned=to_move)
    if outcome.winner is not winner:
        code = "no_winner" if outcome.winner is None else "winner"
        won = "" if outcome.winner is None else roles[outcome.winner]
        raise ExchangeError(f"{where}.winner", code, position=repr(game.encode(position)), winner=won)
    return RecordedGame(tuple(moves), winner)


def machine_of(trainee: Trainee, *, name: str, preset: str) -> MachineData:
    """Return a machine that has learnt from recorded games, in the form of a file."""
    machine, tally = trainee.machine, trainee.tally
    boxes = dict(machine.boxes)
    if machine.rule.open_boxes is OpenBoxes.IN_ADVANCE:
        table = boxes_compile(machine.game, machine.side, machine.rule)
        for key in table.keys:
            boxes.setdefault(key, machine.cabinet.initial_beads(machine.game.decode(key)))
    return MachineData(
        game=machine.game,
        side=machine.side,
        rule=machine.rule,
        name=name,
        preset=preset,
        boxes=boxes_sorted(
            machine.game,
            (
                BoxData(key, tuple(beads), tuple(trainee.played[key, slot] for slot in range(len(beads))))
                for key, beads in boxes.items()
            ),
        ),
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.losses,
        removed=machine.n_removed,
    )
