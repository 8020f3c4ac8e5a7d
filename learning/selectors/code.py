"""Python programs that compute again what a page shows, with the names that ``beadbox`` exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from beadbox import __version__
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.boxes.training_config import FIXED_MEASURES, PARTNER
from beadbox.learners.presets import ALL_PRESETS
from beadbox.learners.registry import rule_read
from beadbox.learners.rule import Rule
from beadbox.rules.outcome import Side
from learning.models import ExperimentRun, Tournament, TournamentFormat

MAX_LINES = 30
MAX_LINES_PER_ENTRY = 3
"""Additional lines that the program of a tournament may have for each of its machines."""
MAX_LINE_CHARACTERS = 79


@dataclass(frozen=True, slots=True)
class NewMachine:
    """A step that creates a new machine in the variable ``name``. A learner of both sides has no ``side``."""

    name: str
    game: str
    side: Side | None
    rule: Rule | str
    """A rule, or a Python expression for the rule."""


@dataclass(frozen=True, slots=True)
class Training:
    """A step in which the machine ``name`` plays games against an opponent: a slug, or the variable of a machine.

    Without a seed, the games continue with the random state after the previous games.
    """

    name: str
    games: int | str
    """A number, or the name of a variable, as for the seed."""
    against: str
    seed: int | str | None
    is_machine: bool = False
    both_learn: bool = False


@dataclass(frozen=True, slots=True)
class LoadedMachine:
    """A step that loads a machine from a file in the program's folder."""

    name: str
    file: str


Step: TypeAlias = NewMachine | Training | LoadedMachine


def step_code(step: Step) -> str:
    """Return the lines of Python that make, train or load the machine of a step."""
    match step:
        case NewMachine(name, game, side, rule):
            return _new_machine_code(name, game, side, rule)
        case LoadedMachine(name, file):
            return f"{name} = bb.load({_literal(file)})"
    arguments = [_number(step.games), f"against={step.against if step.is_machine else _literal(step.against)}"]
    arguments += ["both_learn=True"] if step.both_learn else []
    arguments += [] if step.seed is None else [f"seed={_number(step.seed)}"]
    return f"{step.name}.train({', '.join(arguments)})"


def _number(value: int | str) -> str:
    return value if isinstance(value, str) else _literal(value)


def program(parts: Iterable[str], package: str = "beadbox") -> str:
    """Return a whole program from its parts, with a comment on the version and the import."""
    return "\n".join([f"# {package} {__version__}", "import beadbox as bb", "", *parts])


def n_lines(code: str) -> int:
    """Return the number of lines of a program."""
    return code.count("\n") + 1


def machine_code(steps: Iterable[Step]) -> str:
    """Return the program that makes and trains the machine ``m``."""
    return program([*map(step_code, steps), "print(m.tally)"])


def learn_code(address: Mapping[str, object]) -> str:
    """Return the program for an address of *Watch it learn* (``ParsedAddress.to_json``): its machine, or two machines.

    A page changes the line with the number of games and the seed.
    """
    rules = {"m": rule_read(address["rule"])}
    if address["beside"] is not None:
        rules["m2"] = rule_read(cast("Mapping[str, object]", address["beside"])["rule"])
    parts = [f"games, seed = {_literal(address['games'])}, {_literal(int(str(address['seed'])))}"]
    for name, rule in rules.items():
        parts += map(step_code, _learner_steps(address, name, rule))
    for name in rules:
        parts.append(f"print({name}.tally, bb.best_response({name}).strength.score)")
        opponents = ", ".join(map(_literal, FIXED_MEASURES))
        parts.append(f"print(*({name}.strength(one).score for one in ({opponents})))")
    return program(parts)


def _learner_steps(address: Mapping[str, object], name: str, rule: Rule) -> Iterator[Step]:
    game, teacher, side = str(address["game"]), str(address["teacher"]), Side[str(address["side"]).upper()]
    yield NewMachine(name, game, side, rule)
    if teacher == PARTNER:
        teacher = f"{name}_teacher"
        yield NewMachine(teacher, game, side.other, f"{name}.rule")
    is_machine = teacher != address["teacher"]
    yield Training(name, "games", teacher, "seed", is_machine, is_machine)


def training_address_view(address: dict[str, object]) -> dict[str, object]:
    """Return the JSON of an address of *Watch it learn*, with the Python program that trains the same machine."""
    return address | {"code": learn_code(address)}


def experiment_code(run: ExperimentRun) -> str | None:
    """Return the program that repeats a run; ``None`` if the experiment's edition is no longer the present one."""
    if run.edition != EXPERIMENTS[run.experiment].edition:
        return None
    arguments = [_literal(run.experiment), *_keyword_arguments({"seed": run.seed, **run.parameters})]
    return program([_bracket("result = bb.experiment(", arguments, ")"), 'print(*result.findings, sep="\\n")'])


def tournament_code(tournament: Tournament, players: Mapping[str, Sequence[Step] | str]) -> str:
    """Return the program that repeats a tournament.

    ``players`` has the steps that make a machine, or the slug of a fixed opponent, by the name of each entry.
    """
    is_swiss = tournament.format == TournamentFormat.SWISS
    options = {"games": tournament.n_games, "game": tournament.game, "seed": tournament.seed}
    rounds = {"rounds": tournament.n_rounds} if is_swiss else {}
    function = "swiss" if is_swiss else "round_robin"
    parts = [step_code(step) for player in players.values() if not isinstance(player, str) for step in player]
    entries = [
        f"{_literal(name)}: {_literal(player) if isinstance(player, str) else player[0].name}"
        for name, player in players.items()
    ]
    parts += [
        _bracket("players = {", entries, "}"),
        f"standings = bb.{function}(players, {', '.join(_keyword_arguments(rounds | options))})",
        'print(*standings.rows(), sep="\\n")',
    ]
    return program(parts, "beadbox[tournament]" if is_swiss else "beadbox")


def _new_machine_code(name: str, game: str, side: Side | None, rule: Rule | str) -> str:
    seat = [] if side is None else [_literal(side.name.lower())]
    start = f"{name} = bb.machine({', '.join([_literal(game), *seat])}, rule="
    if isinstance(rule, str):
        return f"{start}{rule})"
    for slug, preset in ALL_PRESETS.items():
        if preset.rule == rule:
            return f"{start}{_literal(slug)})"
    usual = type(rule)().to_json()
    own = {field: value for field, value in rule.to_json().items() if field == "kind" or value != usual[field]}
    return _bracket(f"{start}{{", [f"{_literal(field)}: {_literal(value)}" for field, value in own.items()], "})")


def _bracket(opening: str, items: Sequence[str], closing: str) -> str:
    """Return items between brackets: on one line if they fit, otherwise on lines between those of the brackets."""
    whole = f"{opening}{', '.join(items)}{closing}"
    if len(whole) <= MAX_LINE_CHARACTERS:
        return whole
    lines = [opening]
    for item in items:
        longer = f"{lines[-1]} {item},"
        if len(lines) > 1 and len(longer) <= MAX_LINE_CHARACTERS:
            lines[-1] = longer
        else:
            lines.append(f"    {item},")
    return "\n".join([*lines, closing])


def _keyword_arguments(arguments: Mapping[str, object]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in arguments.items()]


def _literal(value: object) -> str:
    """Return a value of JSON as Python writes it, with underscores in long numbers."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
