"""Our own format: everything that a machine is. Reading it back gives an identical machine.

The ledger stays behind: a file says what a machine *is*, not how it came to be so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.exchange import json_text
from beadbox.learners.exchange.document import (
    FORMAT,
    VERSION,
    BoxData,
    Document,
    MachineData,
    Wanted,
    box_checked,
    boxes_sorted,
    name_or,
)
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.exchange.values import ValuesData, engine_key_problem, values_document, values_lines
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.registry import rule_read
from beadbox.learners.rule import RuleError
from beadbox.rules.errors import InvalidPositionError, UnknownGameError
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get


def dump(data: MachineData) -> str:
    """The file: a head, then one line for each box."""
    lines = ",".join(f"\n  {_line(box)}" for box in data.boxes)
    return written(data, "boxes", lines, side=int(data.side), removed=data.removed)


def dump_values(data: ValuesData) -> str:
    """The file of a machine that keeps values: a head, then one line for each of them."""
    return written(data, "values", values_lines(data), epsilon=data.epsilon)


def written(
    data: Document, name: str, lines: str, *, side: int | None = None, removed: int | None = None, **more: Any
) -> str:
    """A file: the head that machines of every kind have, ``more`` that this kind has, and ``lines`` under a name.

    ``lines`` are what stands between the brackets of a JSON list.
    """
    head = {
        "format": FORMAT,
        "version": VERSION,
        "game": data.game.slug,
        **({} if side is None else {"side": side}),
        "name": data.name,
        "description": data.description,
        "preset": data.preset,
        "rule": data.rule.to_json(),
        "learns": data.learns,
        **more,
        "totals": {
            "games": data.wins + data.draws + data.losses,
            "wins": data.wins,
            "draws": data.draws,
            "losses": data.losses,
            **({} if removed is None else {"removed": removed}),
        },
    }
    return f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "{name}": [{lines}\n ]\n}}\n'


def _line(box: BoxData) -> str:
    return json.dumps({"position": box.position, "beads": box.beads, "draws": box.visits})


def load(text: str, wanted: Wanted) -> Document:
    """The machine that a file holds. Its rule, game and side are its own: of what is wanted, only the name counts.

    Raises:
        ExchangeError: something in it is wrong.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    fields = json_text.parse(text)
    head = schemas.read(schemas.Head, fields)
    try:
        game, rule = game_get(head.game), rule_read(head.rule)
    except UnknownGameError as error:
        raise ExchangeError("game", "game", problem=error.sentence) from None
    except RuleError as error:
        problem = str(error).removeprefix(f"{error.field}: ")
        raise ExchangeError(f"rule.{error.field}", "rule", problem=problem) from None
    if not rule.fits(game):
        raise ExchangeError("rule", "cannot_play", game=game.name)
    kept: dict[str, Any] = {
        "name": name_or(head.name, wanted) or f"Imported: {game.name}",
        "description": head.description,
        "preset": head.preset,
        "learns": head.learns,
    }
    return READERS[rule.kind](fields, game, rule, kept, wanted.any_size)


def boxes_machine(
    fields: dict[str, Any], game: AnyGame, rule: Any, head: dict[str, Any], any_size: bool
) -> MachineData:
    """A machine with boxes, as its file has it (``READERS``).

    Raises:
        ExchangeError: something in it is wrong.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    file = schemas.read(schemas.BoxFile, fields)
    cabinet = Cabinet(game, Side(file.side), rule)
    boxes: dict[str, BoxData] = {}
    for index, item in enumerate(file.boxes):
        where = f"boxes[{index}]"
        position = _position(cabinet, item.position, f"{where}.position")
        box = box_checked(cabinet, position, item.beads, item.draws, where)
        if boxes.setdefault(box.position, box) is not box:
            raise ExchangeError(f"{where}.position", "box_twice", position=repr(box.position))
    totals = file.totals.counted()
    return MachineData(
        game=game, side=cabinet.side, rule=rule, boxes=boxes_sorted(game, boxes.values()), **head, **totals
    )


def _position(cabinet: Cabinet, text: str, where: str) -> AnyPosition:
    """The position of a box, which lies as the box has it printed."""
    try:
        position = cabinet.game.decode(text)
    except InvalidPositionError as error:
        raise ExchangeError(where, "position", problem=error.sentence) from None
    printed = cabinet.box_position(position)
    if printed != position:
        names = {"position": repr(text), "printed": repr(cabinet.game.encode(printed))}
        raise ExchangeError(where, "printed_otherwise", **names)
    return position


def values_machine(
    fields: dict[str, Any], game: AnyGame, rule: Any, head: dict[str, Any], any_size: bool
) -> ValuesData:
    """A machine that keeps values of actions, as its file has it (``READERS``).

    Raises:
        ExchangeError: something in it is wrong.
    """
    exploring = rule.epsilon_floor, rule.epsilon
    return values_document(fields, game, rule, head, engine_key_problem(game), exploring, any_size=any_size)


READERS: dict[str, Callable[[dict[str, Any], AnyGame, Any, dict[str, Any], bool], Document]] = {
    BoxRule.kind: boxes_machine,
    QRule.kind: values_machine,
}
"""How what a file holds beyond its head is read, by the kind of its rule: (the file, game, rule, head, whether it may
be larger than those of accounts). A kind that is registered (``learning/kinds``) brings its own."""
