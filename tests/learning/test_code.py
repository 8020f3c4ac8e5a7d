"""The lines of Python on a page give the page's beads, results and random state, in a process that has no site."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
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
from learning.models import Machine, TrainingRun
from learning.selectors.code import MAX_LINES, experiment_code, learn_code, n_lines
from learning.services.copies import machine_clone
from learning.services.learn import trained_machine_keep
from learning.services.machines import machine_create, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_cancel, tournament_start
from learning.workers.pairings import tournament_play
from tests.beadbox.test_installed import Environment
from tests.factories import NC, finished_experiment, machine, trained_machine, user
from tests.learning.runs import execute_run
from tests.release import build

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
RUNNER = (Path(__file__).parent / "code_run.py").read_text()
SMALL = [NC, "hexapawn", "pong-hau-ki", "nim-3-3-3", "ladder"]
BATCH = 5
"""Pages that one process repeats; four batches are twenty pages."""
MACHINE = "\nm.save('saved')\nfound = open('saved').read()"
LEARNT = """
state = m._now.state.memory
exact = [m.strength(one) for one in ('random', 'win-block', 'perfect')]
shares = [[x.win, x.draw, x.loss] for x in exact]
found = [state.beads.tolist(), state.visits.tolist(), m._now.rng.text, *shares, bb.best_response(m).strength.score]
"""
RESULTS = """
found = [[x.first, x.second, x.n_games, x.first_wins, x.draws, x.second_wins, x.expected] for x in standings.results]
"""


def ran(programs: Sequence[str], folder: Path, python: str = sys.executable) -> list[Any]:
    """Return what the programs leave in their variable ``found``, in a process without Django."""
    done = subprocess.run(
        [python, "-c", RUNNER],
        cwd=folder,
        input=json.dumps(programs),
        text=True,
        check=True,
        stdout=subprocess.PIPE,
        env={"PATH": "", "PYTHONPATH": str(ROOT)} if python == sys.executable else {"PATH": ""},
    )
    found: list[Any] = json.loads(done.stdout)
    return found


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
    file = json.loads(text)
    return {key: value for key, value in file.items() if key not in {"name", "description", "preset", "random_state"}}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(4))
def test_training_that_is_watched(batch: int, tmp_path: Path) -> None:
    draw, programs, expected = Random(f"watched {batch}"), [], []
    for _ in range(BATCH):
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
        shares = [pytest.approx(row[:3], rel=0, abs=1e-12) for row in chances]
        source = cohort.learners.source(0).text
        expected.append([memory.beads.tolist(), memory.visits.tolist(), source, *shares])
        expected[-1].append(pytest.approx(points, rel=0, abs=1e-12))
        programs.append(learn_code(asked.to_json()) + LEARNT)
        assert n_lines(learn_code(asked.to_json())) <= MAX_LINES
    assert ran(programs, tmp_path) == expected


def drawn_machine(draw: Random, number: int) -> Machine:
    """Return a machine that a few runs have trained: against fixed opponents, itself and another machine."""
    game = GAMES[draw.choice(SMALL)]
    slug = draw.choice(list(presets_of(game)))
    rule = presets_of(game)[slug].rule
    boxes = rule.has_boxes
    side = draw.choice(list(Side)) if boxes else None
    own = {"rule": box_rule(draw)} if boxes else {"preset": slug}
    learner, other = (
        machine_create(game=game.slug, side=one, name=f"M{number}", **own)
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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(4))
def test_machines(batch: int, tmp_path: Path) -> None:
    draw = Random(f"machines {batch}")
    machines = [drawn_machine(draw, number) for number in range(BATCH)]
    codes = [code_of(one) for one in machines]
    assert all(code.note in ("", LONG) for code in codes), codes
    repeated = [(one, code) for one, code in zip(machines, codes, strict=True) if not code.note]
    assert repeated
    for (one, code), found in zip(repeated, ran([code.lines + MACHINE for _, code in repeated], tmp_path), strict=True):
        assert written(found) == written(machine_export(one).text), code.lines
        last = TrainingRun.objects.filter(machine=one).latest("pk")
        assert json.loads(found)["random_state"] == last.random_state
        assert n_lines(code.lines) <= MAX_LINES


@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(4))
def test_tournaments(batch: int, tmp_path: Path, client: Client) -> None:
    draw, programs, expected = Random(f"tournaments {batch}"), [], []
    for number in range(BATCH):
        game = GAMES[draw.choice(SMALL)]
        sides = [draw.choice(list(Side)) for _ in range(draw.randrange(1, 4))]
        machines = [machine_create(game=game.slug, side=side, name="Twin", rule=box_rule(draw)) for side in sides]
        for one in machines[1:]:
            trained_machine(one, draw.randrange(1, 100), draw.getrandbits(50))
        copy = machine_clone(machine_id=machines[-1].pk, name='A "copy"\n'.strip())
        players = ["random", "perfect", *(str(one.pk) for one in [*machines, copy])]
        form = draw.choice(["round-robin", "swiss"])
        held = tournament_start(
            user=None,
            entries=players,
            games=draw.randrange(1, 50),
            game=game.slug,
            format=form,
            seed=draw.getrandbits(40),
            enqueue=False,
        )
        tournament_play(held.pk)
        trained_machine(machines[0], 5)  # later games do not count
        held.refresh_from_db()
        code = tournament_code(held, everybody)
        folder = tmp_path / str(number)
        for file in code.files:
            response = client.get(file.url)
            assert response.status_code == 200
            folder.mkdir(exist_ok=True)
            (folder / file.name).write_bytes(response.content)
        assert [file.name for file in code.files] == [f"{copy.slug}-entry.json"]
        programs.append(
            f"import os; os.makedirs('{folder}', exist_ok=True); os.chdir('{folder}')\n{code.lines}{RESULTS}"
        )
        expected.append(
            [
                [
                    x.first.number,
                    x.second.number,
                    held.n_games,
                    x.n_first_wins,
                    x.n_draws,
                    x.n_second_wins,
                    x.expected and pytest.approx(x.expected, rel=0, abs=1e-12),
                ]
                for x in held.pairings.order_by("number").select_related("first", "second")
            ]
        )
    assert ran(programs, tmp_path) == expected


SMALL_FORMS = {"gardner": {"machines": 20}}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("slug", list(EXPERIMENTS))
def test_experiments(slug: str, tmp_path: Path) -> None:
    draw = Random(slug)
    least = {parameter.name: parameter.low for parameter in EXPERIMENTS[slug].parameters}
    runs = [finished_experiment(slug, draw.getrandbits(40), **least) for _ in range(3)]
    found = ran([f"{experiment_code(run)}\nfound = result.to_json()" for run in runs], tmp_path)
    assert found == [json.loads(json.dumps(run.result)) for run in runs]
    runs[0].edition += 1
    assert experiment_code(runs[0]) is None


def test_machine_that_was_watched_and_kept(tmp_path: Path) -> None:
    config = address_parse(QueryDict("game=hexapawn&side=second&teacher=machine&seed=9&loss=-2")).config
    kept, run = trained_machine_keep(user=user(), config=config, preset="gardner-her", games=60)
    code = code_of(kept)
    assert code.note == ""
    (found,) = ran([code.lines + MACHINE], tmp_path)
    assert written(found) == written(machine_export(kept).text)
    assert run is not None
    assert json.loads(found)["random_state"] == run.random_state


def test_machine_that_was_taught_has_its_file(tmp_path: Path, client: Client) -> None:
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
        (found,) = ran([code.lines + MACHINE], tmp_path)
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
    held = tournament_start(user=None, entries=[str(one.pk), "random"], games=2, seed=1, enqueue=False)
    trained_machine(one, 10)
    url = f"/tournaments/{held.pk}/entries/0.json"
    assert not any(entry["value"] for entry in client.get(url).json()["values"])
    assert client.get(f"/tournaments/{held.pk}/entries/1.json").status_code == 404
    Machine.objects.filter(pk=one.pk).update(is_public=False)
    assert client.get(url).status_code == 404
    assert tournament_code(held, lambda machine: False).lines == ""
    tournament_cancel(user=user("staff", is_staff=True), tournament_id=held.pk)
    held.refresh_from_db()
    assert tournament_code(held, everybody).note == STOPPED


def test_pages_show_their_code(client: Client) -> None:
    one = trained_machine(machine(), 20, seed=1_234)
    run = finished_experiment("gardner", machines=10)
    held = tournament_start(user=None, entries=[str(one.pk), "random"], games=2, seed=1, enqueue=False)
    pages = {
        "/learn/hexapawn?seed=1234": "games, seed = 0, 1_234",
        one.get_absolute_url(): "m.train(20, against=&quot;random&quot;, seed=1_234)",
        run.get_absolute_url(): "bb.experiment(&quot;gardner&quot;, seed=1, machines=10)",
        held.get_absolute_url(): "bb.round_robin(players, games=2, ",
    }
    for address, words in pages.items():
        assert words in client.get(address).content.decode()
    assert "m2 = bb.machine" in learn_code(address_parse(QueryDict("game=hexapawn&beside=gardner-her")).to_json())


@pytest.mark.soak
def test_program_runs_with_the_installed_library(tmp_path: Path) -> None:
    one = trained_machine(machine(), 300, seed=1_234)
    (wheel,) = (file for file in build(ROOT, tmp_path / "wheel", 0) if file.suffix == ".whl")
    environment = Environment(sys.executable, tmp_path / "environment", "highest")
    environment.install(f"{wheel}[fast]", "--extra", "fast")
    (found,) = ran([code_of(one).lines + MACHINE], tmp_path, str(environment.python))
    assert written(found) == written(machine_export(one).text)


def test_queries_do_not_grow_with_the_history(django_assert_max_num_queries: Any) -> None:
    one = machine()
    for seed in range(12):
        trained_machine(one, 1, seed)
    with django_assert_max_num_queries(8):
        assert code_of(one).lines.count("train(") == 12
