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
from beadbox.learners.boxes.training_config import MEASURES, TEACHERS, Cohort, teachable_games
from beadbox.learners.presets import presets_of
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.loops import endless_points
from learning.kinds.code import STOPPED_TEXT, TAUGHT_TEXT, TOO_LONG_TEXT, Code, machine_code, tournament_code
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
RUNNER_CODE = (Path(__file__).parent / "code_run.py").read_text()
SMALL_GAMES = [NC, "hexapawn", "pong-hau-ki", "nim-3-3-3", "ladder"]
SHORT_EXPERIMENTS = ("gardner", "hexapawn-rewards")
"""Experiments that take a tenth of a second in their smallest form."""
BATCH_SIZE = 5
BATCHES = [0, *(pytest.param(number, marks=pytest.mark.soak) for number in range(1, 5))]
"""Batches of programs, each repeated by one process. The last four are the twenty pages of the long ring."""
Case = tuple[str, object]
"""A program, and the value that its variable ``found`` has to get."""
RunPrograms = Callable[[Sequence[str]], list[Any]]
DrawCase = Callable[[Random, Path], Case]
FIELDS_NOT_COMPARED = {"name", "description", "preset", "random_state"}
SAVE_MACHINE_CODE = """
m.save('saved')
found = open('saved').read()
"""
READ_FILE_CODE = f"""
import json
file = json.loads(found)
found = [{{key: value for key, value in file.items() if key not in {FIELDS_NOT_COMPARED}}}, file["random_state"]]
"""
READ_STATE_CODE = """
state = m._data.state.memory
exact = [m.strength(one) for one in ('random', 'win-block', 'perfect')]
shares = [[x.win, x.draw, x.loss] for x in exact]
found = [state.beads.tolist(), state.visits.tolist(), m._data.rng.text, *shares, bb.best_response(m).strength.score]
"""
READ_RESULTS_CODE = """
found = [[x.first, x.second, x.n_games, x.first_wins, x.draws, x.second_wins, x.expected] for x in standings.results]
"""


def runner_in(python: str | Path, folder: Path, path: Path) -> RunPrograms:
    """Return a function that runs programs in a process, and returns what they leave in their variable ``found``.

    ``path``: a folder with more packages.
    """

    def run_programs(programs: Sequence[str]) -> list[Any]:
        process = subprocess.run(
            [python, "-c", RUNNER_CODE],
            cwd=folder,
            input=json.dumps(programs),
            text=True,
            check=True,
            stdout=subprocess.PIPE,
            env={"PATH": "", "PYTHONPATH": str(path)},
        )
        found: list[Any] = json.loads(process.stdout)
        return found

    return run_programs


def runner_with(folder: Path, *extras: str) -> RunPrograms:
    """Return a function that runs programs with the installed wheel, and with two packages for Swiss tournaments."""
    return runner_in(environment_with(*extras).python, folder, packages("networkx", "openskill"))


@pytest.fixture
def run_programs(request: pytest.FixtureRequest, tmp_path: Path) -> RunPrograms:
    """Run programs with the wheel and ``fast`` in the long ring, and with the library of this tree in the other."""
    if request.node.get_closest_marker("soak"):
        return runner_with(tmp_path, "fast")
    return runner_in(sys.executable, tmp_path, ROOT)


def is_visible_to_all(machine: Machine) -> bool:
    return True


def code_of(one: Machine) -> Code:
    code = machine_code(one, is_visible_to_all)
    assert code is not None
    return code


def box_rule(rng: Random) -> Any:
    """Return the rule of a preset, mostly with other beads."""
    rule = PRESETS[rng.choice(list(PRESETS))].rule
    if rng.random() < 0.3:
        return rule
    beads = {"win": rng.randrange(1, 6), "draw": rng.randrange(3), "loss": -rng.randrange(4)}
    return BoxRule.from_json(rule.to_json() | beads)


def compared_fields(text: str) -> dict[str, Any]:
    """Return a machine's file without its name and its random state."""
    return {key: value for key, value in json.loads(text).items() if key not in FIELDS_NOT_COMPARED}


def drawn_watched(rng: Random, folder: Path) -> Case:
    rule, game = box_rule(rng), rng.choice([slug for slug in SMALL_GAMES if slug in teachable_games()])
    rule_query = {name: rule_value(value) for name, value in rule.to_json().items()}
    query = {"game": game, "side": rng.choice(["first", "second"]), "teacher": rng.choice(TEACHERS)}
    address = address_parse(
        QueryDict(urlencode(query | rule_query | {"seed": rng.getrandbits(40), "games": rng.randrange(300)}))
    )
    assert address.config.rule == rule
    cohort = Cohort.fresh(address.config, [address.config.seed])
    *chances, worst = cohort.train(address.config.teacher, [address.games], MEASURES).strength[0][-1].tolist()
    memory = cohort.learners.memory(0)
    # Several best responses may leave a machine the same points, in wins or in draws.
    win, draws, _, endless = worst
    points = win + draws / 2 + endless * endless_points(address.config.side, address.config.game.endless_winner)
    numbers = [memory.beads.tolist(), memory.visits.tolist(), cohort.learners.source(0).text]
    shares = [pytest.approx(row[:3], rel=0, abs=1e-12) for row in chances]
    code = learn_code(address.to_json())
    assert n_lines(code) <= MAX_LINES
    return code + READ_STATE_CODE, [*numbers, *shares, pytest.approx(points, rel=0, abs=1e-12)]


def draw_machine(rng: Random) -> Machine:
    """Return a machine that a few runs have trained: against fixed opponents, itself and another machine."""
    game = GAMES[rng.choice(SMALL_GAMES)]
    slug = rng.choice(list(presets_of(game)))
    rule = presets_of(game)[slug].rule
    has_boxes = rule.has_boxes
    side = rng.choice(list(Side)) if has_boxes else None
    rule_fields = {"rule": box_rule(rng)} if has_boxes else {"preset": slug}
    learner, other = (
        machine_create(game=game.slug, side=one, name="M", **rule_fields)
        for one in (side, None if side is None else side.other)
    )
    opponents = [one for one in ("random", "win-block", "perfect") if OPPONENTS[one].plays(game)]
    for _ in range(rng.randrange(1, 4)):
        stages = [
            rng.choice(
                [
                    Stage(rng.choice(opponents), rng.randrange(1, 200)),
                    Stage(str(other.pk), rng.randrange(1, 100), learns=rng.random() < 0.5),
                    Stage(str(other.pk if has_boxes else learner.pk), rng.randrange(1, 100), learns=True),
                ]
            )
            for _ in range(rng.randrange(1, 3))
        ]
        execute_run(training_run_start(machine=learner.slug, stages=stages, seed=rng.getrandbits(60), enqueue=False))
        if rng.random() < 0.3:
            trained_machine(other, 20, rng.getrandbits(32))
    learner.refresh_from_db()
    return learner


def drawn_trained(rng: Random, folder: Path) -> Case:
    one = draw_machine(rng)
    while (code := code_of(one)).note == TOO_LONG_TEXT:
        one = draw_machine(rng)
    assert code.note == ""
    assert n_lines(code.lines) <= MAX_LINES
    last_run = TrainingRun.objects.filter(machine=one).latest("pk")
    return code.lines + SAVE_MACHINE_CODE + READ_FILE_CODE, [
        compared_fields(machine_export(one).text),
        last_run.random_state,
    ]


def drawn_tournament(rng: Random, folder: Path) -> Case:
    game = GAMES[rng.choice(SMALL_GAMES)]
    sides = [rng.choice(list(Side)) for _ in range(rng.randrange(1, 4))]
    machines = [machine_create(game=game.slug, side=side, name="Twin", rule=box_rule(rng)) for side in sides]
    for one in machines[1:]:
        trained_machine(one, rng.randrange(1, 100), rng.getrandbits(50))
    copy = machine_clone(machine_id=machines[-1].pk, name='A "copy"\n'.strip())
    tournament = tournament_start(
        user=None,
        entries=["random", "perfect", *(str(one.pk) for one in [*machines, copy])],
        games=rng.randrange(1, 50),
        game=game.slug,
        format=rng.choice(["round-robin", "swiss"]),
        seed=rng.getrandbits(40),
        enqueue=False,
    )
    tournament_play(tournament.pk)
    trained_machine(machines[0], 5)  # later games do not count
    tournament.refresh_from_db()
    code = tournament_code(tournament, is_visible_to_all)
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
    return f"import os; os.chdir('{folder}')\n{code.lines}{READ_RESULTS_CODE}", expected


def experiment_drawer(slug: str) -> DrawCase:
    """Return a function that draws a seed for the smallest form of an experiment."""

    def draw_case(rng: Random, folder: Path) -> Case:
        least_values = {parameter.name: parameter.low for parameter in EXPERIMENTS[slug].parameters}
        run = finished_experiment(slug, rng.getrandbits(40), **least_values)
        return f"{experiment_code(run)}\nfound = result.to_json()", json.loads(json.dumps(run.result))

    return draw_case


def check_programs(run_programs: RunPrograms, rng: Random, draw_case: DrawCase, n_cases: int, folder: Path) -> None:
    programs, expected = zip(*(draw_case(rng, folder / str(number)) for number in range(n_cases)), strict=True)
    assert run_programs(programs) == [*expected]


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("draw_case", [drawn_watched, drawn_trained, drawn_tournament])
def test_programs_of_pages(batch: int, draw_case: DrawCase, run_programs: RunPrograms, tmp_path: Path) -> None:
    check_programs(run_programs, Random(f"{draw_case.__name__} {batch}"), draw_case, BATCH_SIZE, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("slug", list(EXPERIMENTS))
def test_experiments(slug: str, run_programs: RunPrograms, tmp_path: Path) -> None:
    """Repeat twenty in all: the two short ones eight times each, and each of the four long ones once."""
    check_programs(run_programs, Random(slug), experiment_drawer(slug), 8 if slug in SHORT_EXPERIMENTS else 1, tmp_path)


def test_experiment_of_an_earlier_edition_has_no_program(run_programs: RunPrograms, tmp_path: Path) -> None:
    check_programs(run_programs, Random("one"), experiment_drawer("hexapawn-rewards"), 1, tmp_path)
    run = ExperimentRun.objects.get()
    run.edition += 1
    assert experiment_code(run) is None


@pytest.mark.soak
@pytest.mark.parametrize(
    "draw_case", [drawn_watched, drawn_trained, drawn_tournament, experiment_drawer("hexapawn-rewards")]
)
def test_programs_without_numba(draw_case: DrawCase, tmp_path: Path) -> None:
    check_programs(runner_with(tmp_path), Random("without numba"), draw_case, 1, tmp_path)
    assert sum(Machine.objects.values_list("n_games", flat=True)) <= 1_000


def test_machine_that_was_watched_and_kept(run_programs: RunPrograms) -> None:
    config = address_parse(QueryDict("game=hexapawn&side=second&teacher=machine&seed=9&loss=-2")).config
    kept_machine, run = trained_machine_create(user=user(), config=config, preset="gardner-her", games=60)
    code = code_of(kept_machine)
    assert code.note == ""
    (file_text,) = run_programs([code.lines + SAVE_MACHINE_CODE])
    assert compared_fields(file_text) == compared_fields(machine_export(kept_machine).text)
    assert run is not None
    assert json.loads(file_text)["random_state"] == run.random_state


def test_machine_that_was_taught_has_its_file(run_programs: RunPrograms, tmp_path: Path, client: Client) -> None:
    original = trained_machine(machine(), 20)
    file = machine_export(original).text
    copy, imported = (
        machine_clone(machine_id=original.pk, name="Copy"),
        machine_import(user=None, content=file.encode()),
    )
    for one in (copy, imported.machine):
        trained_machine(one, 5)
        code = code_of(one)
        assert code.note == TAUGHT_TEXT
        (tmp_path / code.files[0].name).write_bytes(client.get(code.files[0].url).content)
        (file_text,) = run_programs([code.lines + SAVE_MACHINE_CODE])
        assert compared_fields(file_text) == compared_fields(machine_export(one).text)


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
    code = machine_code(one, lambda found: found.pk != teacher.pk)
    assert code is not None
    assert code.note == TAUGHT_TEXT


def test_machine_in_training_and_one_with_a_long_history() -> None:
    one = machine()
    training_run_start(machine=one.slug, stages=[Stage("random", 5)], seed=1, enqueue=False)
    assert code_of(one).note == ""
    for seed in range(MAX_LINES):
        trained_machine(one, 1, seed)
    assert code_of(one).note == TOO_LONG_TEXT


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
    assert tournament_code(tournament, is_visible_to_all).note == STOPPED_TEXT


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
    for address, line in pages.items():
        assert line in client.get(address).content.decode()
    assert "m2 = bb.machine" in learn_code(address_parse(QueryDict("game=hexapawn&beside=gardner-her")).to_json())


def test_queries_do_not_grow_with_the_history(django_assert_max_num_queries: Any) -> None:
    one = machine()
    for seed in range(12):
        trained_machine(one, 1, seed)
    with django_assert_max_num_queries(8):
        assert code_of(one).lines.count("train(") == 12
