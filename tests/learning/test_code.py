"""The lines of Python on a page give the page's beads, results and random state, in a process that has no site.

The long ring runs twenty programs of each kind in an environment with only the wheel and its extra ``fast``, and one of
each kind without ``fast``. The ring for every change runs a few with the library of this tree.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client

from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.training_address import address_parse, rule_value
from beadbox.learners.boxes.training_config import MEASURES, TEACHERS, Cohort, games_taught
from beadbox.learners.presets import presets_of
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.loops import endless_points
from learning.kinds.code import LONG, STOPPED, TAUGHT, Code, machine_code, tournament_code
from learning.kinds.machines import machine_export
from learning.models import ExperimentRun, Machine, TrainingRun
from learning.selectors.code import MAX_LINES, experiment_code, learn_code, n_lines
from learning.services.copies import machine_clone
from learning.services.learn import trained_machine_create
from learning.services.machines import machine_create, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_cancel, tournament_start
from learning.workers.pairings import tournament_play
from tests.factories import NC, finished_experiment, machine, trained_machine, user
from tests.learning.runs import execute_run
from tests.wheel import environment_with, packages

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
RUNNER = (Path(__file__).parent / "code_run.py").read_text()
SMALL = [NC, "hexapawn", "pong-hau-ki", "nim-3-3-3", "ladder"]
SHORT = ("gardner", "hexapawn-rewards")
"""Experiments that take a tenth of a second in their smallest form."""
BATCH = 5
BATCHES = [0, *(pytest.param(number, marks=pytest.mark.soak) for number in range(1, 5))]
"""Batches of programs, each repeated by one process. The last four are the twenty pages of the long ring."""
Case = tuple[str, object]
"""A program, and what it has to find."""
Ran = Callable[[Sequence[str]], list[Any]]
Draw = Callable[[Random, Path], Case]
NOT_COMPARED = {"name", "description", "preset", "random_state"}
MACHINE = """
m.save('saved')
found = open('saved').read()
"""
KEPT = f"""
import json
file = json.loads(found)
found = [{{key: value for key, value in file.items() if key not in {NOT_COMPARED}}}, file["random_state"]]
"""
LEARNT = """
state = m._now.state.memory
exact = [m.strength(one) for one in ('random', 'win-block', 'perfect')]
shares = [[x.win, x.draw, x.loss] for x in exact]
found = [state.beads.tolist(), state.visits.tolist(), m._now.rng.text, *shares, bb.best_response(m).strength.score]
"""
RESULTS = """
found = [[x.first, x.second, x.n_games, x.first_wins, x.draws, x.second_wins, x.expected] for x in standings.results]
"""


def run_in(python: str | Path, folder: Path, path: Path) -> Ran:
    """Return a function that runs programs in a process, and returns what they leave in their variable ``found``.

    ``path``: a folder with more packages.
    """

    def ran(programs: Sequence[str]) -> list[Any]:
        done = subprocess.run(
            [python, "-c", RUNNER],
            cwd=folder,
            input=json.dumps(programs),
            text=True,
            check=True,
            stdout=subprocess.PIPE,
            env={"PATH": "", "PYTHONPATH": str(path)},
        )
        found: list[Any] = json.loads(done.stdout)
        return found

    return ran


def run_with(folder: Path, *extras: str) -> Ran:
    """Return such a function for the installed wheel. A Swiss tournament needs two packages beside it."""
    return run_in(environment_with(*extras).python, folder, packages("networkx", "openskill"))


@pytest.fixture
def ran(request: pytest.FixtureRequest, tmp_path: Path) -> Ran:
    """Run programs with the wheel and ``fast`` in the long ring, and with the library of this tree in the other."""
    if request.node.get_closest_marker("soak"):
        return run_with(tmp_path, "fast")
    return run_in(sys.executable, tmp_path, ROOT)


def everybody(machine: Machine) -> bool:
    return True


def code_of(one: Machine) -> Code:
    found = machine_code(one, everybody)
    assert found is not None
    return found


def box_rule(draw: Random) -> Any:
    """Return the rule of a preset, mostly with other beads."""
    rule = PRESETS[draw.choice(list(PRESETS))].rule
    if draw.random() < 0.3:
        return rule
    beads = {"win": draw.randrange(1, 6), "draw": draw.randrange(3), "loss": -draw.randrange(4)}
    return BoxRule.from_json(rule.to_json() | beads)


def written(text: str) -> dict[str, Any]:
    """Return a machine's file without its name and its random state."""
    return {key: value for key, value in json.loads(text).items() if key not in NOT_COMPARED}


def drawn_watched(draw: Random, folder: Path) -> Case:
    rule, game = box_rule(draw), draw.choice([slug for slug in SMALL if slug in games_taught()])
    words = {name: rule_value(value) for name, value in rule.to_json().items()}
    query = {"game": game, "side": draw.choice(["first", "second"]), "teacher": draw.choice(TEACHERS)}
    asked = address_parse(
        QueryDict(urlencode(query | words | {"seed": draw.getrandbits(40), "games": draw.randrange(300)}))
    )
    assert asked.config.rule == rule
    cohort = Cohort.fresh(asked.config, [asked.config.seed])
    *chances, worst = cohort.train(asked.config.teacher, [asked.games], MEASURES).strength[0][-1].tolist()
    memory = cohort.learners.memory(0)
    # Several best responses may leave a machine the same points, in wins or in draws.
    win, drawn, _, endless = worst
    points = win + drawn / 2 + endless * endless_points(asked.config.side, asked.config.game.endless_winner)
    numbers = [memory.beads.tolist(), memory.visits.tolist(), cohort.learners.source(0).text]
    shares = [pytest.approx(row[:3], rel=0, abs=1e-12) for row in chances]
    code = learn_code(asked.to_json())
    assert n_lines(code) <= MAX_LINES
    return code + LEARNT, [*numbers, *shares, pytest.approx(points, rel=0, abs=1e-12)]


def drawn_machine(draw: Random) -> Machine:
    """Return a machine that a few runs have trained: against fixed opponents, itself and another machine."""
    game = GAMES[draw.choice(SMALL)]
    slug = draw.choice(list(presets_of(game)))
    rule = presets_of(game)[slug].rule
    boxes = rule.has_boxes
    side = draw.choice(list(Side)) if boxes else None
    own = {"rule": box_rule(draw)} if boxes else {"preset": slug}
    learner, other = (
        machine_create(game=game.slug, side=one, name="M", **own)
        for one in (side, None if side is None else side.other)
    )
    opponents = [one for one in ("random", "win-block", "perfect") if OPPONENTS[one].plays(game)]
    for _ in range(draw.randrange(1, 4)):
        stages = [
            draw.choice(
                [
                    Stage(draw.choice(opponents), draw.randrange(1, 200)),
                    Stage(str(other.pk), draw.randrange(1, 100), learns=draw.random() < 0.5),
                    Stage(str(other.pk if boxes else learner.pk), draw.randrange(1, 100), learns=True),
                ]
            )
            for _ in range(draw.randrange(1, 3))
        ]
        execute_run(training_run_start(machine=learner.slug, stages=stages, seed=draw.getrandbits(60), enqueue=False))
        if draw.random() < 0.3:
            trained_machine(other, 20, draw.getrandbits(32))
    learner.refresh_from_db()
    return learner


def drawn_trained(draw: Random, folder: Path) -> Case:
    one = drawn_machine(draw)
    while (code := code_of(one)).note == LONG:
        one = drawn_machine(draw)
    assert code.note == ""
    assert n_lines(code.lines) <= MAX_LINES
    last = TrainingRun.objects.filter(machine=one).latest("pk")
    return code.lines + MACHINE + KEPT, [written(machine_export(one).text), last.random_state]


def drawn_tournament(draw: Random, folder: Path) -> Case:
    game = GAMES[draw.choice(SMALL)]
    sides = [draw.choice(list(Side)) for _ in range(draw.randrange(1, 4))]
    machines = [machine_create(game=game.slug, side=side, name="Twin", rule=box_rule(draw)) for side in sides]
    for one in machines[1:]:
        trained_machine(one, draw.randrange(1, 100), draw.getrandbits(50))
    copy = machine_clone(machine_id=machines[-1].pk, name='A "copy"\n'.strip())
    tournament = tournament_start(
        user=None,
        entries=["random", "perfect", *(str(one.pk) for one in [*machines, copy])],
        games=draw.randrange(1, 50),
        game=game.slug,
        format=draw.choice(["round-robin", "swiss"]),
        seed=draw.getrandbits(40),
        enqueue=False,
    )
    tournament_play(tournament.pk)
    trained_machine(machines[0], 5)  # later games do not count
    tournament.refresh_from_db()
    code = tournament_code(tournament, everybody)
    folder.mkdir()
    for file in code.files:
        response = Client().get(file.url)
        assert response.status_code == 200
        (folder / file.name).write_bytes(response.content)
    assert [file.name for file in code.files] == [f"{copy.slug}-entry.json"]
    expected = [
        [
            x.first.number,
            x.second.number,
            tournament.n_games,
            x.n_first_wins,
            x.n_draws,
            x.n_second_wins,
            x.expected and pytest.approx(x.expected, rel=0, abs=1e-12),
        ]
        for x in tournament.pairings.order_by("number").select_related("first", "second")
    ]
    return f"import os; os.chdir('{folder}')\n{code.lines}{RESULTS}", expected


def drawn_experiment(slug: str) -> Draw:
    """Return a function that draws a seed for the smallest form of an experiment."""

    def drawn(draw: Random, folder: Path) -> Case:
        least = {parameter.name: parameter.low for parameter in EXPERIMENTS[slug].parameters}
        run = finished_experiment(slug, draw.getrandbits(40), **least)
        return f"{experiment_code(run)}\nfound = result.to_json()", json.loads(json.dumps(run.result))

    return drawn


def check(ran: Ran, draw: Random, drawn: Draw, n_cases: int, folder: Path) -> None:
    programs, expected = zip(*(drawn(draw, folder / str(number)) for number in range(n_cases)), strict=True)
    assert ran(programs) == [*expected]


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("drawn", [drawn_watched, drawn_trained, drawn_tournament])
def test_programs_of_pages(batch: int, drawn: Draw, ran: Ran, tmp_path: Path) -> None:
    check(ran, Random(f"{drawn.__name__} {batch}"), drawn, BATCH, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("slug", list(EXPERIMENTS))
def test_experiments(slug: str, ran: Ran, tmp_path: Path) -> None:
    """Repeat twenty in all: the two short ones eight times each, and each of the four long ones once."""
    check(ran, Random(slug), drawn_experiment(slug), 8 if slug in SHORT else 1, tmp_path)


def test_experiment_of_an_earlier_edition_has_no_program(ran: Ran, tmp_path: Path) -> None:
    check(ran, Random("one"), drawn_experiment("hexapawn-rewards"), 1, tmp_path)
    run = ExperimentRun.objects.get()
    run.edition += 1
    assert experiment_code(run) is None


@pytest.mark.soak
@pytest.mark.parametrize(
    "drawn", [drawn_watched, drawn_trained, drawn_tournament, drawn_experiment("hexapawn-rewards")]
)
def test_programs_without_numba(drawn: Draw, tmp_path: Path) -> None:
    check(run_with(tmp_path), Random("without numba"), drawn, 1, tmp_path)
    assert sum(Machine.objects.values_list("n_games", flat=True)) <= 1_000


def test_machine_that_was_watched_and_kept(ran: Ran) -> None:
    config = address_parse(QueryDict("game=hexapawn&side=second&teacher=machine&seed=9&loss=-2")).config
    kept, run = trained_machine_create(user=user(), config=config, preset="gardner-her", games=60)
    code = code_of(kept)
    assert code.note == ""
    (found,) = ran([code.lines + MACHINE])
    assert written(found) == written(machine_export(kept).text)
    assert run is not None
    assert json.loads(found)["random_state"] == run.random_state


def test_machine_that_was_taught_has_its_file(ran: Ran, tmp_path: Path, client: Client) -> None:
    original = trained_machine(machine(), 20)
    file = machine_export(original).text
    copy, imported = (
        machine_clone(machine_id=original.pk, name="Copy"),
        machine_import(user=None, content=file.encode()),
    )
    for one in (copy, imported.machine):
        trained_machine(one, 5)
        code = code_of(one)
        assert code.note == TAUGHT
        (tmp_path / code.files[0].name).write_bytes(client.get(code.files[0].url).content)
        (found,) = ran([code.lines + MACHINE])
        assert written(found) == written(machine_export(one).text)


def test_reset_machine_begins_again() -> None:
    owner = user()
    one = trained_machine(machine(owner=owner), 20)
    machine_reset(user=owner, machine_id=one.pk)
    one.refresh_from_db()
    assert "train" not in code_of(one).lines
    trained_machine(one, 7, seed=3)
    assert code_of(one).lines.count("train(") == 1


def test_machine_after_a_private_opponent_is_not_repeated() -> None:
    teacher, one = machine(Side.FIRST, is_public=False), machine()
    execute_run(training_run_start(machine=one.slug, stages=[Stage(teacher.slug, 5)], seed=1, enqueue=False))
    one.refresh_from_db()
    assert "m_2 = bb.machine" in code_of(one).lines
    hidden = machine_code(one, lambda found: found.pk != teacher.pk)
    assert hidden is not None
    assert hidden.note == TAUGHT


def test_machine_in_training_and_one_with_a_long_history() -> None:
    one = machine()
    training_run_start(machine=one.slug, stages=[Stage("random", 5)], seed=1, enqueue=False)
    assert code_of(one).note == ""
    for seed in range(MAX_LINES):
        trained_machine(one, 1, seed)
    assert code_of(one).note == LONG


def test_file_of_an_entry_is_for_its_viewers(client: Client) -> None:
    owner = user()
    one = machine_create(game=NC, side=None, name="Q", preset="q-table", owner=owner)
    tournament = tournament_start(user=None, entries=[str(one.pk), "random"], games=2, seed=1, enqueue=False)
    trained_machine(one, 10)
    url = f"/tournaments/{tournament.pk}/entries/0.json"
    assert not any(entry["value"] for entry in client.get(url).json()["values"])
    assert client.get(f"/tournaments/{tournament.pk}/entries/1.json").status_code == 404
    Machine.objects.filter(pk=one.pk).update(is_public=False)
    assert client.get(url).status_code == 404
    assert tournament_code(tournament, lambda machine: False).lines == ""
    tournament_cancel(user=user("staff", is_staff=True), tournament_id=tournament.pk)
    tournament.refresh_from_db()
    assert tournament_code(tournament, everybody).note == STOPPED


def test_pages_show_their_code(client: Client) -> None:
    one = trained_machine(machine(), 20, seed=1_234)
    run = finished_experiment("gardner", machines=10)
    tournament = tournament_start(user=None, entries=[str(one.pk), "random"], games=2, seed=1, enqueue=False)
    pages = {
        "/learn/hexapawn?seed=1234": "games, seed = 0, 1_234",
        one.get_absolute_url(): "m.train(20, against=&quot;random&quot;, seed=1_234)",
        run.get_absolute_url(): "bb.experiment(&quot;gardner&quot;, seed=1, machines=10)",
        tournament.get_absolute_url(): "bb.round_robin(players, games=2, ",
    }
    for address, words in pages.items():
        assert words in client.get(address).content.decode()
    assert "m2 = bb.machine" in learn_code(address_parse(QueryDict("game=hexapawn&beside=gardner-her")).to_json())


def test_queries_do_not_grow_with_the_history(django_assert_max_num_queries: Any) -> None:
    one = machine()
    for seed in range(12):
        trained_machine(one, 1, seed)
    with django_assert_max_num_queries(8):
        assert code_of(one).lines.count("train(") == 12
