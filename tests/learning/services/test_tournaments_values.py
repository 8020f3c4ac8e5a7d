"""Tournaments of machines that keep values: both sides of each pair, frozen at the start, interruptible."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from beadbox.engines.romgon.entry_keys import entry_key
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.frozen import FrozenValues
from beadbox.learners.q_learning.learner import QLearner, Values
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.rules import Romgon
from beadbox.tournaments.contest import Contest, contest_by_moves
from learning import tasks
from learning.exceptions import EntryGoneError, TournamentRefusedError
from learning.kinds.keyed_values.memory import value_errors, values_fetch_at
from learning.models import JobStatus, Lesson, Machine, Pairing, Tournament, Value, ValueChange
from learning.selectors.tournaments import tournament_view
from learning.services.machines import machine_create, machine_delete, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import MAX_LONG_GAMES, tournament_cancel, tournament_start
from learning.workers import pairings as pairing_worker
from learning.workers.pairings import PAIRINGS, claimable_pairings, pairing_play, tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.factories import api_with, machine, user

GAME = GAMES["romgon"]
assert isinstance(GAME, Romgon)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_samples")]


def learner(name: str = "Q", **fields: Any) -> Machine:
    return machine_create(**{"game": "romgon", "side": None, "name": name, "slug": name.lower(), **fields})


def train(trainee: Machine, games: int = 2, seed: int = 7) -> Machine:
    run = training_run_start(machine=trainee.slug, stages=[Stage("easy", games)], seed=seed, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    run_execute(claimed_run)
    return Machine.objects.get(pk=trainee.pk)


def start_tournament(*entries: str, **options: Any) -> Tournament:
    return tournament_start(entries=entries, **{"user": None, "games": 2, "seed": 8, "enqueue": False, **options})


def play_tournament(*entries: str, **options: Any) -> Tournament:
    tournament = start_tournament(*entries, **options)
    tournament_play(tournament.pk)
    return Tournament.objects.get(pk=tournament.pk)


def outcome(tournament: Tournament) -> Any:
    view = tournament_view(Tournament.objects.get(pk=tournament.pk))
    return {key: view[key] for key in ("status", "standings", "crosstable", "pairings")}


def values_of(trainee: Machine) -> dict[str, float]:
    return dict(trainee.values.values_list("key", "value"))


class TestResults:
    def test_each_pair_meets_twice_and_the_table_adds_up(self) -> None:
        one, other = train(learner("One")), learner("Other")
        view = tournament_view(play_tournament("one", "other", "easy"))
        assert (view["status"], view["pairings_done"], view["pairings_total"]) == ("finished", 6, 6)
        assert {(p["first"], p["second"]) for p in view["pairings"]} == {
            (a, b) for a in range(3) for b in range(3) if a != b
        }
        assert all(p["first_wins"] + p["draws"] + p["second_wins"] == 2 for p in view["pairings"])
        assert sum(row["points"] for row in view["standings"]) == 12
        assert {row["games"] for row in view["standings"]} == {8}
        assert all(p["expected"] is None for p in view["pairings"])
        assert all(row["expected"] is None for row in view["standings"])
        assert all(cell["expected"] is None for line in view["crosstable"] for cell in line["against"])
        assert [entry["side"] for entry in view["entries"]] == [None] * 3
        for machine_before in (one, other):
            machine_now = Machine.objects.get(pk=machine_before.pk)
            assert (machine_now.n_games, machine_now.n_lessons, machine_now.epsilon) == (
                machine_before.n_games,
                machine_before.n_lessons,
                machine_before.epsilon,
            )

    def test_a_pairing_depends_on_its_number_alone(self) -> None:
        one = train(learner("One"))
        pairing = play_tournament("one", "medium", games=3).pairings.select_related("first", "second").get(number=1)
        assert (pairing.first.name, pairing.second.name) == ("Medium engine", "One")
        values, rule = values_of(one), QRule()
        frozen = FrozenValues(rule, one.epsilon or 0, lambda keys: {key: values[key] for key in keys if key in values})
        reference = contest_by_moves(GAME, OPPONENTS["medium"], frozen, 3, RandomSource(8, 1))
        assert reference == Contest(pairing.n_first_wins, pairing.n_draws, pairing.n_second_wins, None)

    def test_games_equal_those_of_the_readable_machine(self) -> None:
        """The games are compared one by one, with one random source for both seats."""
        n_first, rng = 0, RandomSource(5)
        for _ in range(2):
            readable_machine = QLearner(GAME, QRule(), Values(), 0.5, learns=False)
            position = GAME.initial_position()
            while (end := GAME.outcome(position)) is None:
                if position.side is Side.FIRST:
                    move = readable_machine.choose(position, rng).move
                else:
                    move = OPPONENTS["easy"].choose(GAME, position, rng)
                position = GAME.apply(position, move)
            n_first += end.winner is Side.FIRST
        frozen = FrozenValues(QRule(), 0.5, lambda keys: {})
        reference = contest_by_moves(GAME, frozen, OPPONENTS["easy"], 2, RandomSource(5))
        assert reference is not None
        assert reference.first_wins == n_first

    def test_swiss_by_the_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        learner("One")
        call_command("tournament", machines="one,easy,medium", games=1, seed=3, format="swiss", rounds=2)
        output = capsys.readouterr().out
        assert "One" in output
        assert "–" in output


class TestFrozenEntrants:
    def test_later_lessons_change_nothing(self) -> None:
        for name in ("One", "Other"):
            train(learner(name))
        undisturbed_tournament = play_tournament("one", "other")
        disturbed_tournament = start_tournament("one", "other")
        claimed_pairing = PAIRINGS.claim(claimable_pairings(disturbed_tournament.pk)[0])
        assert claimed_pairing is not None
        pairing_play(claimed_pairing)
        for slug in ("one", "other"):
            train(Machine.objects.get(slug=slug), 3, seed=9)
        tournament_play(disturbed_tournament.pk)
        assert outcome(disturbed_tournament) == outcome(undisturbed_tournament)
        assert value_errors() == []

    def test_the_values_of_any_earlier_lesson_can_be_read(self) -> None:
        one = learner()
        start = GAME.initial_position()
        key = entry_key(start.board, GAME.legal_moves(start)[0])
        Value.objects.create(machine=one, key=key, start=0.75, value=0.75)
        tables = [values_of(one)]
        for seed in range(3):
            one = train(one, 1, seed)
            tables.append(values_of(one))
        numbers = [0, *Lesson.objects.filter(machine=one).order_by("number").values_list("number", flat=True)]
        assert len(numbers) == len(tables)
        keys = list(tables[-1])
        for number, table in zip(numbers, tables, strict=True):
            fetched_values = values_fetch_at(one.pk, number)(keys)
            assert {k: v for k, v in fetched_values.items() if v} == {k: v for k, v in table.items() if v}

    def test_a_move_takes_one_query_and_reads_its_own_entries(self) -> None:
        one = learner()
        entries = Value.objects.bulk_create(Value(machine=one, key=f"{n}#0-0:swU", value=0.5) for n in range(3000))
        lesson = Lesson.objects.create(machine=one, number=1, kind="training")
        ValueChange.objects.bulk_create(
            ValueChange(lesson=lesson, entry=entry, before=0, after=0.5) for entry in entries[10:] for _ in range(3)
        )
        with connection.cursor() as cursor:
            # Statistics must not depend on the last run of autovacuum.
            cursor.execute("ANALYZE learning_value, learning_valuechange")
        with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
            assert values_fetch_at(one.pk, 0)(["5#0-0:swU", "none"]) == {"5#0-0:swU": 0.5}
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT TEXT) {queries[0]['sql']}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "value_once" in plan
        assert "Seq Scan on learning_value " not in plan
        assert "valuechange_entry_lesson" in plan
        assert "learning_valuechange_pkey" not in plan

    @pytest.mark.parametrize("remove", [machine_reset, machine_delete], ids=["reset", "deleted"])
    @pytest.mark.parametrize("n_taught", [0, 1])
    def test_a_deleted_machine_ends_the_tournament(self, remove: Callable[..., Any], n_taught: int) -> None:
        owner = user("owner")
        one = learner("One", owner=owner)
        if n_taught:
            train(one, n_taught)
        tournament = start_tournament("one", "easy")
        remove(user=owner, machine_id=one.pk)
        with pytest.raises(EntryGoneError):
            tasks.jobs_work("pairings", claimable_pairings(tournament.pk)[0])
        tournament.refresh_from_db()
        assert tournament.status == JobStatus.FAILED
        assert "One was deleted or made to forget" in tournament.error
        assert tournament.error.startswith("One was"), "the error is a sentence for people"
        assert not tournament.pairings.exclude(status__in=(JobStatus.FAILED, JobStatus.CANCELLED)).exists()


class TestLongGames:
    def test_a_long_pairing_reports_progress_and_keeps_its_lease(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pairing_worker, "STORE_EVERY_S", 0)
        reports: list[tuple[int, Any]] = []
        tournament_tell = pairing_worker.tournament_tell
        pairing = PAIRINGS.claim(claimable_pairings(start_tournament("easy", "medium", game="romgon", games=3).pk)[0])
        assert pairing is not None
        lease_before = pairing.lease_until

        def record_and_tell(tournament: Tournament) -> None:
            row = Pairing.objects.get(pk=pairing.pk)
            reports.append((row.n_first_wins + row.n_draws + row.n_second_wins, row.lease_until))
            tournament_tell(tournament)

        monkeypatch.setattr(pairing_worker, "tournament_tell", record_and_tell)
        pairing_play(pairing)
        assert [games for games, _ in reports] == [1, 2, 3, 3]
        assert lease_before is not None
        assert lease_before < reports[0][1] < reports[2][1]
        assert reports[3][1] is None
        assert Pairing.objects.get(pk=pairing.pk).status == JobStatus.FINISHED

    def test_a_cancelled_pairing_stops_at_the_next_game(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pairing_worker, "STORE_EVERY_S", 0)
        owner = user("owner")
        tournament = start_tournament("easy", "medium", game="romgon", games=MAX_LONG_GAMES, user=owner)
        pairing = PAIRINGS.claim(claimable_pairings(tournament.pk)[0])
        assert pairing is not None
        n_messages = 0
        say = pairing_worker._store_progress

        def count_game(*args: Any) -> None:
            nonlocal n_messages
            n_messages += 1
            if n_messages == 2:
                tournament_cancel(user=owner, tournament_id=tournament.pk)
            say(*args)

        monkeypatch.setattr(pairing_worker, "_store_progress", count_game)
        assert pairing_play(pairing) == []
        assert n_messages == 2
        pairing.refresh_from_db()
        assert (pairing.status, pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins) == ("cancelled", 1)

    def test_a_pairing_with_a_lost_lease_stops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pairing_worker, "STORE_EVERY_S", 0)
        tournament = start_tournament("easy", "medium", game="romgon", games=3)
        first_claim = PAIRINGS.claim(claimable_pairings(tournament.pk)[0])
        assert first_claim is not None
        past = timezone.now() - timedelta(seconds=1)
        Pairing.objects.filter(pk=first_claim.pk).update(lease_until=past)
        second_claim = PAIRINGS.claim(first_claim.pk)
        assert second_claim is not None
        assert pairing_play(first_claim) == []
        assert Pairing.objects.get(pk=first_claim.pk).n_first_wins == 0
        pairing_play(second_claim)
        assert Pairing.objects.get(pk=first_claim.pk).status == JobStatus.FINISHED


class TestRequests:
    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            (
                {"entries": ["q", "easy"], "games": MAX_LONG_GAMES + 1},
                "games: Please give at most 1000",
            ),
            ({"entries": ["q", "expert"]}, "entries: Expert engine plays better on a faster computer"),
            ({"entries": ["q", "perfect"]}, "entries: Perfect does not play Romgon"),
            ({"entries": ["q", "boxed"]}, "machines of one game. These play noughts-and-crosses and romgon"),
            ({"entries": ["q", "flips"]}, "machines of one game. These play romgon and romgon-flip"),
            ({"entries": ["boxed", "hard"]}, "Hard engine does not play Noughts and crosses"),
        ],
    )
    def test_impossible_tournaments_are_refused(self, options: dict[str, Any], reason: str) -> None:
        learner()
        learner("Flips", game="romgon-flip")
        machine(Side.FIRST, slug="boxed")
        with pytest.raises(TournamentRefusedError, match=reason):
            start_tournament(*options.pop("entries"), **options)
        assert not Tournament.objects.exists()

    def test_a_tournament_copies_no_values(self) -> None:
        train(learner())
        tournament = start_tournament("q", "easy")
        entry = tournament.entries.get(number=0)
        assert (entry.beads, entry.side, entry.n_lessons) == (None, None, Machine.objects.get().n_lessons)
        assert entry.n_lessons
        assert ValueChange.objects.exists()

    def test_tournament_by_the_api_and_the_pages(self, client: Client) -> None:
        anna = user("anna")
        learner(owner=anna)
        learner("Flips", game="romgon-flip", owner=anna)
        api_answer = api_with(anna, "train").post(
            "/api/tournaments", {"entries": ["q", "easy"], "games": 1}, format="json"
        )
        assert api_answer.status_code == 201, api_answer.content
        client.force_login(anna)
        page = client.get("/tournaments/new?game=romgon")
        assert page.status_code == 200
        text = page.content.decode()
        assert "Here a machine plays either side" in text
        assert "Romgon with flips" in text
        opponents = [slug for slug, _ in page.context["form"].fields["opponents"].choices]
        ladder = ["easy", "novice", "medium", "skilled", "veteran", "champion", "grandmaster", "legend"]
        assert opponents == ladder, "only levels whose games can be repeated"
        form = {"machines": [str(Machine.objects.get(slug="q").pk)], "opponents": ["medium"], "format": "round-robin"}
        refusal = client.post("/tournaments/new?game=romgon", {**form, "games": MAX_LONG_GAMES + 1})
        assert "Please give at most 1000" in refusal.content.decode()
        answer = client.post("/tournaments/new?game=romgon", {**form, "games": 1})
        assert answer.status_code == 302, answer.content
        assert client.get(answer.headers["Location"]).status_code == 200
