"""A kind with its own tables, page and file format, in its own app, passes through all functions of the site."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client, modify_settings

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.registry import game_get
from games.live.play import match_resign
from learning.exceptions import EntryGoneError
from learning.kinds.machines import entry_player, machine_export
from learning.models import JobStatus, Lesson, LessonKind, Machine, TournamentEntry
from learning.services.copies import machine_copy
from learning.services.machines import machine_create, machine_delete, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.compaction import compact
from tests.factories import NC, api_with, guest, machine, machine_strength, play, room, trained_machine, user
from tests.learning.kinds.registering import register_temporarily
from tests.learning.kinds.win_counter.kind import WIN_COUNTER
from tests.learning.kinds.win_counter.learner import WinCounter, WinCounterRule
from tests.learning.kinds.win_counter.models import WinCount, WinCountChange

pytestmark = pytest.mark.django_db
FOLDER = Path(__file__).parent / "win_counter"


@pytest.fixture(autouse=True)
def _win_counter(db: None) -> Iterator[None]:
    """Install the app for one test; the transaction of the test removes its tables."""
    app = "tests.learning.kinds.win_counter.apps.WinCounterConfig"
    with modify_settings(INSTALLED_APPS={"append": app}), register_temporarily(WIN_COUNTER):
        call_command("migrate", "win_counter", verbosity=0)
        yield


def counter(**fields: Any) -> Machine:
    return machine_create(game=NC, side=None, name="Counter", preset="win-counter", **fields)


def counts(learner: Machine) -> dict[str, list[int]]:
    return dict(WinCount.objects.filter(machine=learner).values_list("key", "held"))


def audit_report(capsys: pytest.CaptureFixture[str]) -> str:
    call_command("audit")
    return capsys.readouterr().out


def test_the_kind_imports_no_memory_of_another_kind() -> None:
    text = "".join(path.read_text() for path in FOLDER.glob("*.py"))
    others = ("boxes", "q_learning", "value_learner", "table_learner", "keyed_values")
    assert not [name for name in others if f"kinds.{name}" in text or f"learners.{name}" in text]
    assert apps.get_app_config("win_counter").get_models()


def test_run_in_chunks_equals_training_in_one_go(capsys: pytest.CaptureFixture[str]) -> None:
    machine_json = api_with(user()).post("/api/machines", {"game": NC, "preset": "win-counter"}, format="json").json()
    assert (machine_json["side"], machine_json["name"]) == (None, "Noughts and crosses, counted")
    learner = trained_machine(counter(), 60)
    assert (learner.n_games, learner.runs.get().curve.count() > 3) == (60, True)
    reference = WinCounter(game_get(NC), WinCounterRule(), {})
    reference.train(OPPONENTS["random"], 60, RandomSource(1))
    assert counts(learner) == {key: list(numbers) for key, numbers in reference.counts.items()}
    assert machine_strength(learner)["random"]["games"] == 10
    assert f", and {WinCount.objects.count():,} counts of wins" in audit_report(capsys)


def test_two_machines_of_the_kind_train_each_other() -> None:
    one, other = counter(), counter()
    stages = [Stage(other.slug, 10, learns=True)]
    claimed_run = RUNS.claim(training_run_start(machine=one.slug, stages=stages, seed=1, enqueue=False).pk)
    assert claimed_run is not None
    assert run_execute(claimed_run).status == JobStatus.FINISHED
    assert counts(one)
    assert counts(other)


def test_machine_learns_when_a_match_ends(capsys: pytest.CaptureFixture[str]) -> None:
    learner = counter()
    seated = room("machine", machine=str(learner.pk))
    state = play(seated, guest(), "5")
    match_resign(code=seated.room.code, person=guest())
    lesson = Lesson.objects.get()
    assert (lesson.kind, lesson.match, lesson.n_wins) == (LessonKind.MATCH, seated.room.matches.get(), 1)
    assert [key.split(" ")[1] for key in counts(learner)] == [state["moves"][1]["move"]]
    assert list(counts(learner).values()) == [[1, 1]]
    second_state = play(room("machine", machine=str(learner.pk)), guest(), "5")
    assert second_state["moves"][1]["move"] == state["moves"][1]["move"], "the move that won the first match"
    audit_report(capsys)


def test_machine_is_copied_reset_and_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    owner = user()
    learner = trained_machine(counter(owner=owner), 40)
    copy = machine_copy(user=owner, machine_id=learner.pk)
    assert counts(copy) == counts(learner)
    trained_machine(copy, 20, seed=2)
    assert counts(copy) != counts(learner)
    audit_report(capsys)
    machine_after_reset = machine_reset(user=owner, machine_id=copy.pk)
    assert (counts(machine_after_reset), machine_after_reset.n_games) == ({}, 0)
    machine_delete(user=owner, machine_id=learner.pk)
    assert not WinCount.objects.exists()
    assert not WinCountChange.objects.exists()


def test_a_file_brings_back_the_same_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    learner = trained_machine(counter(), 40)
    text = machine_export(learner).text
    imported_machine = machine_import(user=None, content=text.encode()).machine
    assert machine_export(imported_machine).text == text
    call_command("export_machine", learner.slug, out=tmp_path / "counter.json")
    call_command("import_machine", str(tmp_path / "counter.json"))
    assert f"{len(counts(learner))} counts" in capsys.readouterr().out
    audit_report(capsys)
    file = json.loads(text)
    file["counts"][0][2] = file["counts"][0][1] + 1
    answer = api_with(user()).post("/api/machines/import", json.dumps(file), content_type="application/json")
    assert (answer.status_code, "counts[0]" in answer.content.decode()) == (400, True)
    assert api_with(None).get(f"/api/machines/{learner.pk}/export?format=csv").status_code in (400, 404)


def test_entrant_plays_with_its_counts_at_the_start() -> None:
    owner = user(is_staff=True)
    learner, menace = trained_machine(counter(), 40), machine()
    tournament = tournament_start(
        user=owner, entries=[learner.slug, menace.slug, "random"], games=2, seed=1, enqueue=False
    )
    entry = TournamentEntry.objects.get(machine=learner)
    counts_before = counts(learner)
    trained_machine(learner, 40, seed=2)
    player: Any = entry_player(entry, game_get(NC)).played
    assert player.counts == {key: tuple(numbers) for key, numbers in counts_before.items()}
    tournament_play(tournament.pk)
    tournament.refresh_from_db()
    assert tournament.status == JobStatus.FINISHED
    machine_reset(user=owner, machine_id=learner.pk)
    with pytest.raises(EntryGoneError):
        entry_player(entry, game_get(NC))


def test_ledger_is_compacted_and_audited(capsys: pytest.CaptureFixture[str]) -> None:
    learner = trained_machine(counter(), 110)
    n_changes, numbers = WinCountChange.objects.count(), counts(learner)
    assert compact(learner).n_folded == learner.n_lessons
    assert WinCountChange.objects.count() < n_changes
    assert counts(learner) == numbers
    audit_report(capsys)
    row = WinCount.objects.filter(machine=learner)[0]
    row.held = [row.held[0] + 1, row.held[1]]
    row.save()
    with pytest.raises(CommandError, match=f"do not add up, by id: \\[{row.pk}\\]"):
        call_command("audit")


def test_pages_show_the_machine(client: Client) -> None:
    owner = user("ann", is_staff=True, is_superuser=True)
    client.force_login(owner)
    learner = trained_machine(counter(owner=owner), 40)
    page = client.get(learner.get_absolute_url())
    assert "win_counter/machine.html" in [template.name for template in page.templates]
    assert f"{len(counts(learner))} counts" in page.content.decode()
    run_page = client.get(f"/runs/{learner.runs.get().pk}").content.decode()
    assert "See its counts" in run_page
    assert "Each point is measured in 10 games without learning. So it may be a third off." in run_page
    assert 'data-kind="win-counter"' in client.get("/machines/new").content.decode()
    form = {"game": NC, "name": "Mine", "preset": "win-counter", "own_rule": "on", "prior": "3"}
    assert client.post("/machines/new", form).status_code == 302
    assert Machine.objects.get(name="Mine").rule == WinCounterRule(prior=3)
    for address in ("/", "/machines", "/admin/learning/machine/", f"{learner.get_absolute_url()}/train"):
        assert client.get(address).status_code == 200, address
    question = {"game": NC, "board": game_get(NC).encode(game_get(NC).initial_position()), "machine": learner.slug}
    answer = api_with(None).post("/api/ai/move", question, format="json").json()
    assert sum(one["probability"] for one in answer["candidateMoves"]) == pytest.approx(1)
