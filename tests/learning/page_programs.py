"""The programs of ten pages, drawn without a database, for ``tests/bare.sh``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from django.http import QueryDict

from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.training_address import address_parse
from beadbox.learners.boxes.training_config import TEACHERS, teachable_games
from beadbox.rules.outcome import Side
from learning.models import ExperimentRun, Tournament, TournamentFormat
from learning.selectors.code import (
    NewMachine,
    Step,
    Training,
    experiment_code,
    learn_code,
    machine_code,
    tournament_code,
)

SMALL_EXPERIMENTS = ("gardner", "michie-tournament", "hexapawn-rewards")
"""Experiments that take only a moment in their smallest form, even without numba."""


def programs(draw: Random) -> Iterator[str]:
    """Yield the programs of four pages of *Watch it learn*, two machines, three experiments and a tournament."""
    for game in draw.sample(sorted(teachable_games()), 4):
        query = f"game={game}&teacher={draw.choice(TEACHERS)}&seed={draw.getrandbits(40)}&games={draw.randrange(200)}"
        yield learn_code(address_parse(QueryDict(query)).to_json())
    for side in Side:
        yield machine_code(_training_steps(draw, "m", side))
    for slug in SMALL_EXPERIMENTS:
        experiment = EXPERIMENTS[slug]
        least_values = {parameter.name: parameter.low for parameter in experiment.parameters}
        program = experiment_code(
            ExperimentRun(
                experiment=slug, edition=experiment.edition, seed=draw.getrandbits(40), parameters=least_values
            )
        )
        assert program is not None
        yield program
    tournament = Tournament(
        game="hexapawn", format=TournamentFormat.ROUND_ROBIN, n_games=20, n_rounds=1, seed=draw.getrandbits(40)
    )
    machines = {f"A {side.name} machine": _training_steps(draw, f"m{side:d}", side) for side in Side}
    yield tournament_code(tournament, {"random": "random", "perfect": "perfect", **machines})


def _training_steps(draw: Random, name: str, side: Side) -> list[Step]:
    rule = PRESETS[draw.choice(sorted(PRESETS))].rule
    training = Training(name, draw.randrange(1, 200), draw.choice(["random", "perfect"]), draw.getrandbits(40))
    return [NewMachine(name, "hexapawn", side, rule), training]


def write(folder: Path) -> None:
    """Write each program to a file of its own."""
    folder.mkdir()
    for number, program in enumerate(programs(Random("ten pages"))):
        (folder / f"page{number}.py").write_text(program)
