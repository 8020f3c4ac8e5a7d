"""Our own format: everything that a machine is. Reading it back gives an identical machine.

The ledger stays behind: a file says what a machine *is*, not how it came to be so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from games.rules.base import Game, Side
from games.rules.errors import InvalidPositionError, UnknownGameError
from games.rules.registry import game_get
from learning.core.exchange import json_text
from learning.core.exchange.document import (
    MAX_COUNT,
    BoxData,
    Document,
    MachineData,
    Wanted,
    box_checked,
    boxes_sorted,
    whole_number,
    words,
)
from learning.core.exchange.errors import ExchangeError, shown
from learning.core.exchange.values import (
    KeyProblem,
    ValuesData,
    engine_key_problem,
    epsilon_read,
    values_lines,
    values_read,
)
from learning.core.machines.boxes import Cabinet
from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import rule_read
from learning.core.machines.rule import MAX_BEADS, BoxRule, Rule, RuleError

FORMAT = "beadbox-machine"
VERSION = 1


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
    fields = json_text.members(json_text.parse(text), "")
    if fields.get("format") != FORMAT:
        raise ExchangeError("format", f"must be {FORMAT!r}, not {shown(fields.get('format'))}")
    if fields.get("version") != VERSION:
        raise ExchangeError("version", f"must be {VERSION}, not {shown(fields.get('version'))}")
    try:
        game = game_get(words(json_text.need(fields, "game"), "game", longest=40))
        rule = rule_read(json_text.need(fields, "rule"))
    except UnknownGameError as error:
        raise ExchangeError("game", str(error)) from None
    except RuleError as error:
        raise ExchangeError(f"rule.{error.field}", str(error).partition(": ")[2]) from None
    if not rule.fits(game):
        raise ExchangeError("rule", f"a machine of this kind cannot play {game.name}")
    learns = fields.get("learns", True)
    if not isinstance(learns, bool):
        raise ExchangeError("learns", f"must be true or false, not {shown(learns)}")
    name = words(fields.get("name", ""), "name", longest=80)
    head: dict[str, Any] = {
        "name": wanted.name or name or f"Imported: {game.name}",
        "description": words(fields.get("description", ""), "description", longest=2000),
        "preset": words(fields.get("preset", ""), "preset", longest=40),
        "learns": learns,
    }
    return READERS[rule.kind](fields, game, rule, head, wanted.any_size)


def boxes_machine(
    fields: dict[str, Any], game: Game[Any, Any], rule: Any, head: dict[str, Any], any_size: bool
) -> MachineData:
    """A machine with boxes, as its file has it (``READERS``).

    Raises:
        ExchangeError: something in it is wrong.
    """
    side = Side(whole_number(json_text.need(fields, "side"), "side", highest=1))
    cabinet = Cabinet(game, side, rule)
    boxes: dict[str, BoxData] = {}
    for index, item in enumerate(json_text.items(json_text.need(fields, "boxes"), "boxes")):
        box = _box(cabinet, item, f"boxes[{index}]")
        if box.position in boxes:
            raise ExchangeError(f"boxes[{index}].position", f"{box.position!r} stands twice in the file")
        boxes[box.position] = box
    totals = totals_read(fields, "wins", "draws", "losses", "removed")
    return MachineData(game=game, side=side, rule=rule, boxes=boxes_sorted(game, boxes.values()), **head, **totals)


def values_machine(fields: dict[str, Any], game: Any, rule: Any, head: dict[str, Any], any_size: bool) -> ValuesData:
    """A machine that keeps values of actions, as its file has it (``READERS``).

    Raises:
        ExchangeError: something in it is wrong.
    """
    exploring = rule.epsilon_floor, rule.epsilon
    return values_document(fields, game, rule, head, engine_key_problem(game), exploring, any_size=any_size)


def values_document(
    fields: dict[str, Any],
    game: Game[Any, Any],
    rule: Rule,
    head: dict[str, Any],
    key_problem: KeyProblem,
    exploring: tuple[float, float],
    *,
    any_size: bool = False,
) -> ValuesData:
    """A machine that keeps values by any key, as its file has it; ``exploring``: how often it may try anything.

    Raises:
        ExchangeError: something in it is wrong.
    """
    for name in ("side", "boxes"):
        if fields.get(name) is not None:
            raise ExchangeError(name, "a machine that keeps values plays either side, and has no boxes")
    values = values_read(json_text.need(fields, "values"), key_problem, any_size=any_size)
    totals, epsilon = totals_read(fields, "wins", "draws", "losses"), epsilon_read(fields, *exploring)
    return ValuesData(game=game, rule=rule, epsilon=epsilon, values=values, **head, **totals)


READERS: dict[str, Callable[[dict[str, Any], Game[Any, Any], Any, dict[str, Any], bool], Document]] = {
    BoxRule.kind: boxes_machine,
    QRule.kind: values_machine,
}
"""How what a file holds beyond its head is read, by the kind of its rule: (the file, game, rule, head, whether it may
be larger than those of accounts). A kind that is registered (``learning/kinds``) brings its own."""


def totals_read(file: dict[str, Any], *names: str) -> dict[str, Any]:
    """The totals of a file, 0 for those that it does not have.

    Raises:
        ExchangeError: they are no counts, or do not add up.
    """
    fields = json_text.members(file.get("totals", {}), "totals")
    totals = {name: whole_number(fields.get(name, 0), f"totals.{name}") for name in names}
    games = totals["wins"] + totals["draws"] + totals["losses"]
    if whole_number(fields.get("games", games), "totals.games") != games:
        raise ExchangeError(
            "totals.games", f"is {shown(fields['games'])}, but wins, draws and losses add up to {games}"
        )
    return totals


def _box(cabinet: Cabinet, item: Any, where: str) -> BoxData:
    fields = json_text.members(item, where)
    text = words(json_text.need(fields, "position", where), f"{where}.position", longest=100)
    try:
        position = cabinet.game.decode(text)
    except InvalidPositionError as error:
        raise ExchangeError(f"{where}.position", str(error)) from None
    if cabinet.box_position(position) != position:
        canonical = cabinet.game.encode(cabinet.box_position(position))
        raise ExchangeError(f"{where}.position", f"{text!r} is printed on its box as {canonical!r}")
    beads = _numbers(json_text.need(fields, "beads", where), f"{where}.beads", MAX_BEADS)
    draws = _numbers(fields.get("draws", [0] * len(beads)), f"{where}.draws")
    return box_checked(cabinet, position, beads, draws, where)


def _numbers(value: object, where: str, highest: int = MAX_COUNT) -> list[int]:
    numbers = json_text.items(value, where)
    return [whole_number(number, f"{where}[{index}]", highest=highest) for index, number in enumerate(numbers)]
