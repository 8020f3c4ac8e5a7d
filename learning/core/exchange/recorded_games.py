"""Files of recorded games: ``{"games": [{"moves": ["b1b2", …], "winner": 1}]}``, the winner 1, 2 or ``"draw"``.

What a program that kept such a file calls a win is checked against the rules; a game that stops while moves remain was
given up by the side to move.
"""

from __future__ import annotations

from typing import Any

from games.rules.base import Game, Side
from games.rules.errors import RulesError
from learning.core.exchange import json_text
from learning.core.exchange.document import MAX_TEXT, BoxData, MachineData, boxes_sorted, words
from learning.core.exchange.errors import ExchangeError, shown
from learning.core.machines.rule import OpenBoxes
from learning.core.training.replay import Pupil, RecordedGame
from learning.core.training.tables import boxes_compile

MAX_GAMES = 100_000
MAX_MOVES = 1_000
"""The most moves of a game that are read."""

_WINNERS: tuple[tuple[Any, Side | None], ...] = ((1, Side.FIRST), (2, Side.SECOND), ("draw", None))


def load(text: str, game: Game[Any, Any]) -> tuple[RecordedGame, ...]:
    """The games of a file.

    Raises:
        ExchangeError: something in it is wrong, with its place.
    """
    fields = json_text.members(json_text.parse(text), "")
    games = json_text.items(json_text.need(fields, "games"), "games")
    if len(games) > MAX_GAMES:
        raise ExchangeError("games", f"has {len(games):,} games; {MAX_GAMES:,} are the most")
    return tuple(_game(game, item, f"games[{index}]") for index, item in enumerate(games))


def _game(game: Game[Any, Any], item: Any, where: str) -> RecordedGame:
    fields = json_text.members(item, where)
    texts = json_text.items(json_text.need(fields, "moves", where), f"{where}.moves")
    if len(texts) > MAX_MOVES:
        raise ExchangeError(f"{where}.moves", f"has {len(texts):,} moves; {MAX_MOVES:,} are the most")
    position, moves = game.initial_position(), []
    for index, text in enumerate(texts):
        place = f"{where}.moves[{index}]"
        if game.is_terminal(position):
            raise ExchangeError(place, f"the game is over in {game.encode(position)!r}")
        try:
            move = game.parse_move(words(text, place, longest=MAX_TEXT))
            position = game.play(position, move)
        except RulesError as error:
            raise ExchangeError(place, str(error)) from None
        moves.append(move)
    winner = _winner(json_text.need(fields, "winner", where), f"{where}.winner")
    outcome, to_move = game.outcome(position), game.side_to_move(position)
    if outcome is None:
        if winner is not to_move.other:
            raise ExchangeError(
                f"{where}.winner",
                f"the moves stop where {game.look.layout.role_names[to_move]} are to move, so they gave up and lost",
            )
        return RecordedGame(tuple(moves), winner, resigned=to_move)
    if outcome.winner is not winner:
        won = "nobody has" if outcome.winner is None else f"{game.look.layout.role_names[outcome.winner]} have"
        raise ExchangeError(f"{where}.winner", f"in {game.encode(position)!r} {won} won")
    return RecordedGame(tuple(moves), winner)


def _winner(value: object, where: str) -> Side | None:
    for name, side in _WINNERS:
        # bool is an int in Python; "winner": true is a mistake, not the first player.
        if value == name and not isinstance(value, bool):
            return side
    raise ExchangeError(where, f'must be 1, 2 or "draw", not {shown(value)}')


def machine_of(pupil: Pupil, *, name: str, preset: str) -> MachineData:
    """A machine that has watched recorded games, as a file has it."""
    machine, tally = pupil.machine, pupil.tally
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
                BoxData(key, tuple(beads), tuple(pupil.played[key, slot] for slot in range(len(beads))))
                for key, beads in boxes.items()
            ),
        ),
        wins=tally.wins,
        draws=tally.draws,
        losses=tally.losses,
        removed=machine.n_removed,
    )
