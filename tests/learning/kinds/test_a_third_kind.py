"""A kind of machine that no other module knows passes through all functions of the site."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.learner import Values
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.play import game_played
from beadbox.rules.registry import game_get
from games.live.play import match_resign, match_step
from games.live.rooms import room_create
from learning.exceptions import (
    EntryGoneError,
    NoBoxesError,
    RuleRefusedError,
    TournamentRefusedError,
    TrainingRefusedError,
)
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.keyed_values.memory import value_errors, values_miscounted
from learning.kinds.machines import entry_player, machine_export
from learning.models import Decision, JobStatus, Lesson, LessonKind, Machine, TournamentEntry, ValueChange
from learning.selectors.tournaments import tournament_view
from learning.services.copies import machine_copy
from learning.services.machines import machine_create, machine_delete, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import MAX_LONG_GAMES, tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.factories import (
    NC,
    api_with,
    guest,
    machine,
    machine_strength,
    person,
    play,
    play_out,
    room,
    trained_machine,
    user,
)
from tests.learning.kinds.last_won import (
    LAST_WON,
    LastWon,
    LastWonMemory,
    LastWonRule,
    LastWonTraining,
)
from tests.learning.kinds.registering import register_temporarily

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def third_kind() -> Iterator[None]:
    with register_temporarily(LAST_WON):
        yield


@pytest.fixture
def owner(client: Client) -> Any:
    """Return a new account that is logged in with ``client``."""
    account = user()
    client.force_login(account)
    return account


def last_won_machine(**fields: Any) -> Machine:
    return machine_create(game=NC, side=None, name="Toy", preset="last-won", **fields)


def assert_ledger_explains(*machines: Machine) -> None:
    """Assert that the ledger of each machine explains its memory and its totals."""
    assert value_errors() == []
    assert values_miscounted() == []
    for one in machines:
        one.refresh_from_db()
        assert one.n_games == one.n_wins + one.n_draws + one.n_losses


class TestCreation:
    def test_machine_is_made_by_the_api_from_a_preset_or_a_rule(self) -> None:
        api = api_with(user())
        machine_json = api.post("/api/machines", {"game": NC, "preset": "last-won"}, format="json").json()
        assert (machine_json["side"], machine_json["name"]) == (None, "Noughts and crosses, last won")
        rule = {"kind": "last-won", "forgives": True}
        second_json = api.post("/api/machines", {"game": NC, "rule": rule, "name": "Mine"}, format="json").json()
        assert (second_json["rule"], second_json["values"]) == (rule, 0)
        refusal = api.post("/api/machines", {"game": "romgon", "preset": "last-won"}, format="json")
        assert refusal.status_code == 400

    def test_machine_is_made_on_the_page_with_every_field(self, client: Client, owner: Any) -> None:
        page = client.get("/machines/new")
        assert 'data-kind="last-won"' in page.content.decode()
        form = {"game": NC, "name": "Toy", "preset": "last-won", "own_rule": "on", "forgives": "on", "side": "1"}
        answer = client.post("/machines/new", form)
        new_machine = Machine.objects.get()
        assert answer.headers["Location"] == new_machine.get_absolute_url()
        assert (new_machine.rule, new_machine.side) == (LastWonRule(forgives=True), None)

    def test_usual_presets_of_games_stay_the_same(self) -> None:
        assert machine_create(game=NC, side=Side.FIRST, name="M").preset == "michie-1961"

    def test_machine_plays_either_side_and_has_no_boxes(self) -> None:
        with pytest.raises(RuleRefusedError):
            machine_create(game=NC, side=Side.FIRST, name="M", preset="last-won")
        with pytest.raises(NoBoxesError, match="the move that last won, for every board"):
            last_won_machine().cabinet  # noqa: B018


class TestTraining:
    def test_run_in_chunks_equals_training_in_one_go(self) -> None:
        learner = trained_machine(last_won_machine(), 300)
        assert_ledger_explains(learner)
        assert learner.n_games == 300
        assert learner.n_wins > learner.n_losses
        assert learner.runs.get().curve.count() == 13
        reference = LastWon(game_get(NC), LastWonRule(), Values())
        reference.train(OPPONENTS["random"], 300, RandomSource(1))
        assert dict(learner.values.values_list("key", "value")) == {one.key: one.after for one in reference.touched()}

    def test_machine_trains_with_its_own_kind_only(self) -> None:
        learner, other = last_won_machine(), machine()
        run = training_run_start(
            machine=learner.slug, stages=[Stage(learner.slug, 20, learns=True)], seed=1, enqueue=False
        )
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        assert run_execute(claimed_run).status == JobStatus.FINISHED
        assert_ledger_explains(learner)
        assert learner.n_games == 40
        for one, opponent in ((learner, other), (other, learner)):
            with pytest.raises(TrainingRefusedError):
                training_run_start(machine=one.slug, stages=[Stage(opponent.slug, 1)], seed=1, enqueue=False)

    def test_strength_is_that_of_the_last_point(self) -> None:
        assert machine_strength(last_won_machine()) == {}
        assert (
            machine_strength(trained_machine(last_won_machine(), 200))["random"]["games"]
            == LastWonTraining.sampling.n_games
        )


class TestLiveMatches:
    def test_machine_learns_when_a_match_ends(self) -> None:
        learner = last_won_machine()
        seated = room("machine", machine=str(learner.pk))
        state = play(seated, guest(), "5")
        match_resign(code=seated.room.code, person=guest())
        assert_ledger_explains(learner)
        lesson = Lesson.objects.get()
        assert (lesson.kind, lesson.match, lesson.n_wins) == (LessonKind.MATCH, seated.room.matches.get(), 1)
        (change,) = ValueChange.objects.all()
        assert (change.lesson, change.ply, change.before, change.after) == (lesson, 1, 0, 1)
        assert change.entry.key.startswith(f"{state['moves'][1]['move']}#")
        second_state = play(room("machine", machine=str(learner.pk)), guest(), "5")
        assert second_state["moves"][1]["move"] == state["moves"][1]["move"], "the move that won the first match"

    def test_matches_respect_the_limit_of_values(self, settings: Any) -> None:
        learner = last_won_machine()
        for max_values in (0, 1):
            settings.VALUES_PER_MACHINE = max_values
            seated = room("machine", machine=str(learner.pk))
            play(seated, guest(), "5")
            match_resign(code=seated.room.code, person=guest())
            assert_ledger_explains(learner)
            assert learner.n_values == max_values

    def test_seat_can_be_taken_over(self) -> None:
        owner = user()
        learner = last_won_machine(owner=owner)
        seated = room("random", person(owner), takes_over=str(learner.pk))
        play_out(seated.room.code, person(owner))
        assert_ledger_explains(learner)
        assert learner.n_games == 1
        assert Decision.objects.filter(machine=learner).exists()

    def test_machine_swaps_sides_in_a_rematch(self) -> None:
        """A machine with boxes keeps its side."""
        for one, can_swap in ((last_won_machine(), True), (machine(), False)):
            seated = room("machine", machine=str(one.pk))
            play(seated, guest(), "5")
            state = match_resign(code=seated.room.code, person=guest())
            assert state["can_swap"] is can_swap

    def test_match_against_boxes_teaches_both_once(self) -> None:
        learner, menace = last_won_machine(), machine(Side.SECOND)
        seated = room_create(person=guest(), game=NC, first=str(learner.pk), second=str(menace.pk))
        state = match_step(code=seated.room.code, person=guest(), max_plies=9)
        assert state["status"] == "finished"
        machines_seated = [seat["machine"] or {} for seat in state["seats"]]
        assert [(one["tells"], one["see"]) for one in machines_seated] == [
            ("", "See the machine"),
            ("boxes", "See all its boxes"),
        ]
        assert [one["see_named"] for one in machines_seated] == ["See Toy", "All boxes of MENACE"]
        assert_ledger_explains(learner, menace)
        assert (learner.n_games, menace.n_games) == (1, 1)
        assert ledger_errors() == []


class TestFilesAndCopies:
    def test_a_file_brings_back_the_same_machine(self) -> None:
        learner = trained_machine(last_won_machine(), 200)
        text = machine_export(learner).text
        imported_machine = machine_import(user=None, content=text.encode()).machine
        assert_ledger_explains(imported_machine)
        assert machine_export(imported_machine).text == text
        assert imported_machine.n_values == learner.n_values

    def test_refusal_of_a_wrong_file_names_the_place(self) -> None:
        file = json.loads(machine_export(trained_machine(last_won_machine(), 100)).text)
        file["values"][0]["value"] = 2
        answer = api_with(user()).post("/api/machines/import", json.dumps(file), content_type="application/json")
        assert answer.status_code == 400
        assert "values[0].value" in answer.content.decode()

    def test_export_and_import_by_commands(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        learner = trained_machine(last_won_machine(), 100)
        call_command("export_machine", learner.slug, out=tmp_path / "toy.json")
        call_command("import_machine", str(tmp_path / "toy.json"))
        assert f"{learner.n_values} values" in capsys.readouterr().out

    def test_machine_is_copied_reset_and_deleted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        owner = user()
        learner = trained_machine(last_won_machine(owner=owner), 200)
        copy = machine_copy(user=owner, machine_id=learner.pk)
        assert_ledger_explains(copy)
        assert dict(copy.values.values_list("key", "value")) == dict(learner.values.values_list("key", "value"))
        machine_after_reset = machine_reset(user=owner, machine_id=copy.pk)
        assert (machine_after_reset.values.count(), machine_after_reset.n_values, machine_after_reset.n_games) == (
            0,
            0,
            0,
        )
        initial_fields = {"epsilon": 0.25, "n_removed": 2, "description": "as good as new"}
        monkeypatch.setattr(LastWonMemory, "fields_new", lambda kind, rule: initial_fields)
        machine_reset(user=owner, machine_id=copy.pk)
        assert Machine.objects.filter(pk=copy.pk).values(*initial_fields).get() == initial_fields
        machine_delete(user=owner, machine_id=learner.pk)
        assert not Machine.objects.filter(pk=learner.pk).exists()


class TestTournament:
    def test_a_toy_machine_takes_part_among_machines_with_boxes(self) -> None:
        owner = user(is_staff=True)
        learner, menace = trained_machine(last_won_machine(), 300), trained_machine(machine(Side.FIRST), 300)
        tournament = tournament_start(
            user=owner, entries=[learner.slug, menace.slug, "perfect", "random"], games=4, seed=1, enqueue=False
        )
        tournament_play(tournament.pk)
        tournament.refresh_from_db()
        assert tournament.status == JobStatus.FINISHED
        pairings = {(one.first.name, one.second.name): one for one in tournament.pairings.all()}
        mixed_pairing = pairings["MENACE", "Toy"]
        assert (
            mixed_pairing.expected,
            mixed_pairing.n_first_wins + mixed_pairing.n_draws + mixed_pairing.n_second_wins,
        ) == (None, 4)
        assert pairings["MENACE", OPPONENTS["perfect"].name].expected is not None
        view = tournament_view(tournament)
        names = {entry["number"]: entry["name"] for entry in view["entries"]}
        expected = {names[row["entry"]]: row["expected"] for row in view["standings"]}
        assert expected["Toy"] is expected["MENACE"] is None
        cells = {
            (names[row["entry"]], names[cell["entry"]]): cell for row in view["crosstable"] for cell in row["against"]
        }
        assert cells["MENACE", "Toy"]["expected"] is None
        assert cells["MENACE", "Random"]["expected"] > 0

    def test_pairings_are_limited_to_games_playable_move_by_move(self, client: Client, owner: Any) -> None:
        learner, menace = last_won_machine(owner=owner), machine(owner=owner)
        entries, n_too_many = [str(learner.pk), "random"], MAX_LONG_GAMES + 1
        with pytest.raises(TournamentRefusedError, match="games: Please give at most 1000"):
            tournament_start(user=owner, entries=entries, games=n_too_many, enqueue=False)
        assert tournament_start(user=owner, entries=entries, games=MAX_LONG_GAMES, enqueue=False).pairings.exists()
        form = {"machines": entries[:1], "opponents": entries[1:], "format": "round-robin", "games": n_too_many}
        refusal = client.post(f"/tournaments/new?game={NC}", form)
        assert "Please give at most 1000." in refusal.content.decode()
        assert client.post(f"/tournaments/new?game={NC}", {**form, "machines": [str(menace.pk)]}).status_code == 302

    def test_entrant_plays_with_its_values_at_the_start(self) -> None:
        learner, game = trained_machine(last_won_machine(), 100), game_get(NC)
        entry = TournamentEntry(machine=learner, rule=learner.rule_json, **LastWonTraining().entry_fields(learner))

        def play_games_of_entry() -> list[Any]:
            player = entry_player(entry, game).played
            movers = {Side.FIRST: player.mover(game), Side.SECOND: OPPONENTS["random"].mover(game)}
            return [game_played(game, movers, RandomSource(seed)) for seed in range(20)]

        games_before = play_games_of_entry()
        trained_machine(learner, 300, seed=2)
        assert play_games_of_entry() == games_before
        machine_reset(user=user(is_staff=True), machine_id=learner.pk)
        with pytest.raises(EntryGoneError):
            entry_player(entry, game)


class TestPages:
    def test_every_page_shows_the_machine(self, client: Client, owner: Any) -> None:
        learner = trained_machine(last_won_machine(owner=owner), 100)
        page = client.get(learner.get_absolute_url()).content.decode()
        assert "the move that last won, for every board" in page
        assert "Random play" in page
        run = learner.runs.get()
        pages = [
            "/",
            "/machines",
            "/account",
            f"/play/{NC}?machine={learner.pk}",
            f"/runs/{run.pk}",
            f"/machines/compare?machine={learner.pk}",
        ]
        pages += [f"{learner.get_absolute_url()}/{part}" for part in ("edit", "train", "reset", "delete", "schedule")]
        for address in pages:
            assert client.get(address).status_code == 200, address
        for address in ("why", "boxes"):
            assert client.get(f"{learner.get_absolute_url()}/{address}").headers["Location"] == str(
                learner.get_absolute_url()
            )
        assert client.get(f"{learner.get_absolute_url()}/print").url == learner.get_absolute_url()

    def test_no_page_mentions_beads_or_sides(self, client: Client, owner: Any) -> None:
        learner, other = trained_machine(last_won_machine(owner=owner), 100), last_won_machine(owner=owner)
        address = learner.get_absolute_url()
        tournament = tournament_start(user=owner, entries=[learner.slug, "random"], games=1, seed=1, enqueue=False)
        pages = [f"/runs/{learner.runs.get().pk}", f"{address}/edit", f"{address}/train", "/tournaments"]
        texts = {page: client.get(page).content.decode() for page in [*pages, tournament.get_absolute_url()]}
        for page, text in texts.items():
            assert not re.search("too large|the beads|every bead|of the other side", text), page
        assert other.name in texts[f"{address}/train"]
        assert "There are no exact values here" in texts[pages[0]]
        assert "Here a machine plays either side" in client.get(f"/tournaments/new?game={NC}").content.decode()
        menaces = machine(Side.FIRST, owner=owner), machine(Side.SECOND, owner=owner)
        assert (
            "Two players that play either side meet twice."
            in client.get(f"/tournaments/new?game={NC}").content.decode()
        )
        assert (
            "Machines that play the other side" in client.get(f"{menaces[0].get_absolute_url()}/train").content.decode()
        )
        Machine.objects.filter(side=None).delete()
        assert "A machine plays one side only." in client.get(f"/tournaments/new?game={NC}").content.decode()

    def test_the_api_shows_its_values_and_refuses_boxes(self) -> None:
        learner = trained_machine(last_won_machine(), 100)
        api = api_with(None)
        assert api.get(f"/api/machines/{learner.pk}").json()["rule"] == learner.rule_json
        assert (
            api.get(f"/api/machines/{learner.pk}/strength").json()["random"]["games"]
            == LastWonTraining.sampling.n_games
        )
        for missing_path in ("boxes", "boxes/.........", "values/........."):
            assert api.get(f"/api/machines/{learner.pk}/{missing_path}").status_code == 404

    def test_advice_gives_a_move(self) -> None:
        learner = trained_machine(last_won_machine(), 300)
        question = {"game": NC, "board": game_get(NC).encode(game_get(NC).initial_position()), "machine": learner.slug}
        answer = api_with(None).post("/api/ai/move", question, format="json").json()
        assert answer["box"] is None
        assert sum(one["probability"] for one in answer["candidateMoves"]) == pytest.approx(1)

    def test_admin_shows_its_values(self, client: Client) -> None:
        client.force_login(user("staff", is_staff=True, is_superuser=True))
        learner = trained_machine(last_won_machine(), 100)
        page = client.get("/admin/learning/machine/").content.decode()
        assert f'<a href="/admin/learning/value/?machine={learner.pk}">Values</a>' in page
        values = client.get(f"/admin/learning/value/?machine={learner.pk}")
        assert values.status_code == 200
        text = values.content.decode()
        assert f'name="machine" value="{learner.pk}"' in text
        assert f"/admin/learning/value/{learner.values.order_by('key')[0].pk}/" in text
        changed_value = learner.values.filter(changes__isnull=False)[0]
        for kind, pk in (
            ("value", changed_value.pk),
            ("machine", learner.pk),
            ("lesson", changed_value.changes.all()[0].lesson_id),
        ):
            assert client.get(f"/admin/learning/{kind}/{pk}/change/").status_code == 200, kind
