"""Tournaments: independent of workers and their deaths, without learning; permissions to hold and see them."""

import os
import signal
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.tournaments.contest import contest
from learning import tasks
from learning.exceptions import (
    MachineNotFoundError,
    NotYourTournamentError,
    TournamentNotFoundError,
    TournamentQuotaError,
    TournamentRefusedError,
)
from learning.kinds.boxes.memory import MEMORY, ledger_errors
from learning.models import Box, JobStatus, Lesson, Machine, Pairing, Tournament
from learning.selectors.tournaments import tournament_for, tournament_view, tournaments_visible
from learning.services.tournaments import tournament_cancel, tournament_delete, tournament_start
from learning.workers.pairings import PAIRINGS, claimable_pairings, pairing_fail, pairing_play, tournament_play
from menace_site.celery import app
from menace_site.local.processes import is_dead
from tests.conftest import StartWorker
from tests.factories import expire_leases, machine, trained_machine, user
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db


def entrant_slugs() -> list[str]:
    """Create two machines of each side with different training. Return their slugs and two fixed opponents."""
    slugs = []
    for number, side in enumerate((Side.FIRST, Side.SECOND, Side.FIRST, Side.SECOND)):
        learner = machine(side, slug=f"m{number}", name=f"Machine {number}")
        trained_machine(learner, games=400 * number + 100, seed=number)
        slugs.append(learner.slug)
    return [*slugs, "random", "perfect"]


def start_tournament(entries: list[str], **options: Any) -> Tournament:
    options = {"user": None, "games": 200, "seed": 8, "enqueue": False, **options}
    return tournament_start(entries=entries, **options)


def play_tournament(entries: list[str], **options: Any) -> Tournament:
    tournament = start_tournament(entries, **options)
    tournament_play(tournament.pk)
    tournament.refresh_from_db()
    return tournament


def outcome(tournament: Tournament) -> dict[str, Any]:
    """Return the result of a tournament, without the fields that differ between equal tournaments."""
    tournament.refresh_from_db()
    view = tournament_view(tournament)
    return {key: view[key] for key in ("status", "round", "entries", "standings", "crosstable", "pairings")}


def pairing_of(tournament: Tournament, first: str, second: str) -> Pairing:
    return tournament.pairings.get(first__name=first, second__name=second)


# Results


def test_round_robin_pairs_all_players_that_can_meet() -> None:
    tournament = start_tournament(entrant_slugs())
    pairs = {(p.first.name, p.second.name) for p in tournament.pairings.all()}
    machine_pairs = {("Machine 0", "Machine 1"), ("Machine 0", "Machine 3"), ("Machine 2", "Machine 1")}
    assert machine_pairs | {("Machine 2", "Machine 3"), ("Random", "Perfect"), ("Perfect", "Random")} <= pairs
    assert {("Machine 0", "Random"), ("Random", "Machine 1"), ("Perfect", "Machine 3")} <= pairs
    assert len(pairs) == 4 + 2 + 4 * 2


def test_pairing_depends_on_its_number_alone() -> None:
    """A pairing has the games of its number and the exact result of both machines."""
    tournament = play_tournament(entrant_slugs())
    pairing = pairing_of(tournament, "Machine 2", "Machine 1")
    first, second = (FrozenBoxes(MEMORY.load(Machine.objects.get(slug=slug))) for slug in ("m2", "m1"))
    reference = contest(tournament.game_rules, first, second, 200, RandomSource(8, pairing.number))
    assert (pairing.n_first_wins, pairing.n_draws, pairing.n_second_wins) == (
        reference.first_wins,
        reference.draws,
        reference.second_wins,
    )
    assert tuple(pairing.expected or ()) == reference.expected
    assert pairing_of(tournament, "Perfect", "Random").expected == pytest.approx([0.967811, 0.032189, 0], abs=1e-6)


def test_the_table_adds_up() -> None:
    view = tournament_view(play_tournament(entrant_slugs()))
    assert view["status"] == "finished"
    assert view["pairings_done"] == view["pairings_total"] == 14
    assert sum(row["points"] for row in view["standings"]) == 14 * 200
    assert sum(row["expected"] for row in view["standings"]) == pytest.approx(14 * 200)
    sides = {entry["number"]: entry["side"] for entry in view["entries"]}
    assert [sides[row["entry"]] for row in view["standings"]] == [None, None, 0, 0, 1, 1]
    assert [row["place"] for row in view["standings"]] == [1, 2] * 3
    for row, line in zip(view["standings"], view["crosstable"], strict=True):
        assert row["entry"] == line["entry"]
        assert sum(cell["points"] for cell in line["against"]) == row["points"]
        assert row["wins"] + row["draws"] + row["losses"] == row["games"]
        assert 0 < row["uncertainty"] < 25 / 3
    names = {entry["number"]: entry["name"] for entry in view["entries"]}
    places = {names[row["entry"]]: row["place"] for row in view["standings"]}
    ratings = {names[row["entry"]]: row["rating"] for row in view["standings"]}
    assert places["Perfect"] < places["Random"]
    assert ratings["Perfect"] > ratings["Random"]


def test_a_view_takes_two_queries_for_any_size(django_assert_num_queries: Any) -> None:
    tournament = Tournament.objects.select_related("owner").get(pk=play_tournament(entrant_slugs()).pk)
    with django_assert_num_queries(2):
        tournament_view(tournament)


def test_swiss_tournament_plays_its_rounds_without_repeats() -> None:
    tournament = play_tournament(entrant_slugs(), format="swiss")
    assert (tournament.n_rounds, tournament.round, tournament.status) == (3, 3, JobStatus.FINISHED)
    pairs = [
        (p.round, frozenset((p.first.number, p.second.number)))
        for p in tournament.pairings.select_related("first", "second")
    ]
    assert len({pair for _, pair in pairs}) == len(set(pairs)), "no two players meet in two rounds"
    assert {number for number, _ in pairs} == {1, 2, 3}
    for number in (1, 2, 3):
        assert len({pair for round_number, pair in pairs if round_number == number}) == 3, (
            "all six players are in a pair"
        )


def test_swiss_tournament_ends_when_all_have_met() -> None:
    machine(Side.FIRST, slug="one")
    tournament = play_tournament(["one", "random", "perfect"], format="swiss", rounds=2)
    assert tournament.status == JobStatus.FINISHED
    machine(Side.SECOND, slug="two")
    machine(Side.SECOND, slug="three")
    tournament = play_tournament(["one", "two", "three"], format="swiss", rounds=2)
    assert (tournament.status, tournament.round, tournament.n_rounds) == (JobStatus.FINISHED, 2, 2)
    machine(Side.FIRST, slug="four")
    tournament = play_tournament(["one", "two", "three", "four"], format="swiss", rounds=3)
    assert (tournament.status, tournament.round, tournament.n_rounds) == (JobStatus.FINISHED, 2, 2)


def test_the_seed_determines_the_results() -> None:
    entries = entrant_slugs()
    for options in ({}, {"format": "swiss"}):
        first, repetition, other = (play_tournament(entries, seed=seed, **options) for seed in (1, 1, 2))
        assert outcome(first) == outcome(repetition)
        assert outcome(first)["pairings"] != outcome(other)["pairings"]


# Frozen players


def test_entrants_are_frozen_at_the_start() -> None:
    entries = entrant_slugs()
    undisturbed_tournament = play_tournament(entries)
    n_lessons = Lesson.objects.count()
    disturbed_tournament = start_tournament(entries)
    beads_before = list(Box.objects.order_by("pk").values_list("beads", flat=True))
    pairing_play(claim_pairing(disturbed_tournament))
    assert list(Box.objects.order_by("pk").values_list("beads", flat=True)) == beads_before
    assert Lesson.objects.count() == n_lessons
    trained_machine(Machine.objects.get(slug="m0"), 2000, seed=99)
    Machine.objects.filter(slug="m2").update(learns=False, name="Renamed")
    Machine.objects.get(slug="m3").delete()
    tournament_play(disturbed_tournament.pk)
    outcome_after, expected = outcome(disturbed_tournament), outcome(undisturbed_tournament)
    assert outcome_after["standings"] == expected["standings"]
    assert outcome_after["pairings"] == expected["pairings"]
    assert [entry["name"] for entry in outcome_after["entries"]] == [entry["name"] for entry in expected["entries"]]
    assert ledger_errors() == []


def claim_pairing(tournament: Tournament) -> Pairing:
    pairing = PAIRINGS.claim(tournament.pairings.filter(status=JobStatus.QUEUED).order_by("number")[0].pk)
    assert pairing is not None
    return pairing


# Claims


def test_a_repeated_message_has_one_effect() -> None:
    tournament = start_tournament(entrant_slugs()[:2])
    (pairing,) = tournament.pairings.all()
    for _ in range(2):
        tasks.jobs_work("pairings", pairing.pk)
    tournament.refresh_from_db()
    pairing.refresh_from_db()
    assert tournament.version == 1
    assert pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins == 200


def test_a_pairing_of_a_dead_worker_is_played_by_another() -> None:
    tournament = start_tournament(entrant_slugs())
    first_claim = claim_pairing(tournament)
    assert PAIRINGS.claim(first_claim.pk) is None, "the lease still holds"
    Pairing.objects.filter(pk=first_claim.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    second_claim = PAIRINGS.claim(first_claim.pk)
    assert second_claim is not None
    pairing_play(first_claim)  # the first worker was only slow, and its result is ignored
    assert Pairing.objects.get(pk=first_claim.pk).status == JobStatus.RUNNING
    pairing_play(second_claim)
    assert Pairing.objects.get(pk=first_claim.pk).status == JobStatus.FINISHED
    tournament_play(tournament.pk)
    undisturbed_tournament = play_tournament(
        [entry.opponent or entry.machine.slug for entry in tournament.entries.all()]
    )
    assert outcome(tournament) == outcome(undisturbed_tournament)


def test_failure_after_a_lost_lease_ends_no_pairing() -> None:
    tournament = start_tournament(entrant_slugs())
    first_claim = claim_pairing(tournament)
    Pairing.objects.filter(pk=first_claim.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    second_claim = PAIRINGS.claim(first_claim.pk)
    assert second_claim is not None
    pairing_fail(first_claim, ValueError("out of memory, perhaps"))
    tournament.refresh_from_db()
    assert (tournament.status, tournament.error) == (JobStatus.RUNNING, "")
    pairing_play(second_claim)
    assert Pairing.objects.get(pk=first_claim.pk).status == JobStatus.FINISHED
    pairing_fail(second_claim, ValueError("too late"))
    tournament_play(tournament.pk)
    tournament.refresh_from_db()
    assert tournament.status == JobStatus.FINISHED


def test_tournament_deleted_during_a_pairing_harms_no_worker() -> None:
    tournament = start_tournament(entrant_slugs())
    pairing = claim_pairing(tournament)
    tournament.delete()
    assert pairing_play(pairing) == []
    pairing_fail(pairing, ValueError("nothing to fail"))
    assert PAIRINGS.claim(pairing.pk) is None
    tournament_play(tournament.pk)


@pytest.mark.django_db(transaction=True)
def test_tournament_play_waits_for_pairings_claimed_elsewhere() -> None:
    tournament = start_tournament(entrant_slugs())
    claimed_pairing = claim_pairing(tournament)

    def play_to_the_end() -> None:
        tournament_play(tournament.pk)
        connection.close()

    player = threading.Thread(target=play_to_the_end)
    player.start()
    assert wait_until(lambda: not claimable_pairings(tournament.pk) and n_running(tournament) == 1)
    assert player.is_alive()
    pairing_play(claimed_pairing)
    player.join()
    assert is_over(tournament)


@pytest.mark.parametrize("format_", ["round-robin", "swiss"])
def test_fixed_opponents_meet_without_a_machine(format_: str) -> None:
    """The tournament names its game, since no machine does."""
    tournament = play_tournament(list(UNIFORM), games=20, game="noughts-and-crosses", format=format_)
    assert tournament.status == JobStatus.FINISHED
    for pairing in tournament.pairings.select_related("first", "second"):
        assert pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins == 20
        if {pairing.first.opponent, pairing.second.opponent} == {"perfect", "perfect-fast"}:
            assert pairing.n_draws == 20
            assert pairing.expected == pytest.approx([0, 1, 0])


def test_recovery_wakes_workers_for_waiting_and_lost_pairings(monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = start_tournament(entrant_slugs())
    waiting_pairing, lost_pairing, new_pairing, running_pairing = tournament.pairings.order_by("number")[:4]
    now = timezone.now()
    Pairing.objects.filter(pk__in=[waiting_pairing.pk, lost_pairing.pk]).update(knocked_at=now - timedelta(minutes=1))
    for pairing, lease_s in ((lost_pairing, -1), (running_pairing, 60)):
        Pairing.objects.filter(pk=pairing.pk).update(status="running", lease_until=now + timedelta(seconds=lease_s))
    wake_up_ids: list[int] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_up_ids.append(args[1]))
    assert tasks.jobs_recover() == 2
    assert set(wake_up_ids) == {waiting_pairing.pk, lost_pairing.pk}
    assert new_pairing.pk not in wake_up_ids


def test_unplayable_pairing_ends_the_tournament_with_a_reason() -> None:
    tournament = start_tournament(entrant_slugs())
    tournament.entries.filter(number=0).update(beads={"nonsense": [1]})
    pairing = tournament.pairings.filter(first__number=0).first()
    with pytest.raises(ValueError, match="nonsense"):
        tasks.jobs_work("pairings", pairing.pk)
    tournament.refresh_from_db()
    assert tournament.status == JobStatus.FAILED
    assert "'nonsense' is not a box" in tournament.error
    assert not tournament.pairings.filter(status__in=["queued", "running"]).exists()


# Workers


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("options", [{}, {"format": "swiss"}], ids=["round robin", "swiss"])
@pytest.mark.soak
def test_one_worker_and_three_give_the_same_result(options: dict[str, Any], start_worker: StartWorker) -> None:
    entries = entrant_slugs()
    expected = outcome(play_tournament(entries, **options))
    for n_workers, n_more in ((1, 1), (3, 2)):
        for _ in range(n_more):
            start_worker()
        assert wait_until(lambda n=n_workers: len(app.control.ping(timeout=0.5)) == n)
        tournament = start_tournament(entries, enqueue=True, **options)
        assert wait_until(lambda tournament=tournament: is_over(tournament))
        assert outcome(tournament) == expected


@pytest.mark.django_db(transaction=True)
@pytest.mark.soak
def test_tournament_survives_a_killed_worker_unchanged(
    start_worker: StartWorker,
) -> None:
    entries = [*entrant_slugs(), "win-block", "perfect-fast"]
    expected = outcome(play_tournament(entries, games=300_000))
    worker = start_worker()
    tournament = start_tournament(entries, games=300_000, enqueue=True)
    assert wait_until(lambda: n_finished(tournament) >= 2 and n_running(tournament) >= 1, poll_s=0.005)
    os.killpg(worker.pid, signal.SIGKILL)
    assert wait_until(lambda: is_dead(worker))
    n_finished_before = n_finished(tournament)
    assert n_finished_before < tournament.pairings.count()
    # The lease would expire after pairings.LEASE_S; the test does not wait for it.
    expire_leases(*Pairing.objects.all())
    start_worker()
    Pairing.objects.filter(status=JobStatus.QUEUED).update(knocked_at=timezone.now() - timedelta(minutes=1))
    tasks.jobs_recover()
    assert wait_until(lambda: is_over(tournament))
    assert outcome(tournament) == expected


def n_finished(tournament: Tournament) -> int:
    return tournament.pairings.filter(status=JobStatus.FINISHED).count()


def n_running(tournament: Tournament) -> int:
    return tournament.pairings.filter(status=JobStatus.RUNNING).count()


def is_over(tournament: Tournament) -> bool:
    tournament.refresh_from_db()
    return tournament.status != JobStatus.RUNNING


# Refusals


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"entries": ["one"]}, "entries: A tournament needs 2 to 32 players. Please choose more"),
        ({"entries": ["one"] * 33}, "entries: Please choose at most 32"),
        ({"entries": ["one", "one"]}, "entries: Each player can take part only once"),
        ({"entries": ["one", "random", "random"]}, "entries: Each player can take part only once"),
        ({"entries": ["random", "perfect"]}, "game: Please name a game"),
        ({"entries": ["random", "perfect"], "game": "chess"}, "game: .*chess"),
        ({"entries": ["one", "random"], "game": "chess"}, "of one game. These play chess and noughts-and-crosses"),
        ({"entries": ["one", "same"]}, "MENACE has no opponent. Add a player that can play second"),
        ({"games": 0}, "games: Please give at least 1"),
        ({"games": 1_000_001}, "games: Please give at most 1000000"),
        ({"format": "knock-out"}, "format: Please choose one of these: round-robin, swiss"),
        ({"rounds": 2}, "rounds: Only a Swiss tournament"),
        ({"format": "swiss", "rounds": 2}, "rounds: Please give a number from 1 to 1"),
        ({"format": "swiss", "rounds": 0}, "rounds: Please give a number from 1 to 1"),
        ({"seed": -1}, "seed: Please give at least 0"),
        ({"seed": 1 << 63}, "seed: Please give at most"),
    ],
)
def test_impossible_tournaments_are_refused(options: dict[str, Any], reason: str) -> None:
    machine(Side.FIRST, slug="one")
    machine(Side.FIRST, slug="same")
    with pytest.raises(TournamentRefusedError, match=reason), transaction.atomic():
        start_tournament(options.pop("entries", ["one", "random"]), **options)
    assert not Tournament.objects.exists()


def test_one_machine_by_its_id_and_its_slug_is_one_entry() -> None:
    one = machine(Side.FIRST, slug="one")
    with pytest.raises(TournamentRefusedError, match="once"):
        start_tournament(["one", str(one.pk), "random"])


def test_an_account_has_a_limit_of_tournaments() -> None:
    owner = user()
    machine(Side.FIRST, slug="one")
    first, *_ = [start_tournament(["one", "random"], user=owner) for _ in range(settings.OPEN_TOURNAMENTS_PER_ACCOUNT)]
    with pytest.raises(TournamentQuotaError):
        start_tournament(["one", "random"], user=owner)
    tournament_cancel(user=owner, tournament_id=first.pk)
    start_tournament(["one", "random"], user=owner)


# Permissions


def test_hidden_machines_cannot_be_entered() -> None:
    owner, other, staff = user("owner"), user("other"), user("staff", is_staff=True)
    hidden_machine = machine(Side.FIRST, owner=owner, is_public=False)
    for stranger in (other, AnonymousUser()):
        with pytest.raises(MachineNotFoundError), transaction.atomic():
            tournament_start(user=stranger if stranger.pk else other, entries=[hidden_machine.slug, "random"], games=1)
    for account in (owner, staff):
        assert not start_tournament([hidden_machine.slug, "random"], user=account).is_public


def test_a_tournament_of_a_hidden_machine_is_hidden() -> None:
    owner, other, staff = user("owner"), user("other"), user("staff", is_staff=True)
    public_machine, hidden_machine = machine(Side.FIRST), machine(Side.FIRST, owner=owner, is_public=False)
    public_tournament, hidden_tournament = (
        start_tournament([m.slug, "random"], user=owner) for m in (public_machine, hidden_machine)
    )
    for viewer, expected in (
        (owner, {public_tournament, hidden_tournament}),
        (staff, {public_tournament, hidden_tournament}),
        (other, {public_tournament}),
        (AnonymousUser(), {public_tournament}),
        (None, {public_tournament}),
    ):
        assert set(tournaments_visible(viewer)) == expected
    with pytest.raises(TournamentNotFoundError):
        tournament_for(other, hidden_tournament.pk)
    with pytest.raises(TournamentNotFoundError):
        tournament_for(staff, 1 << 70)


def test_only_owner_and_staff_cancel_or_delete_a_tournament() -> None:
    owner, other, staff = user("owner"), user("other"), user("staff", is_staff=True)
    machine(Side.FIRST, slug="one")
    tournament = start_tournament(["one", "random", "perfect"], user=owner)
    for stranger in (other, AnonymousUser()):
        for action in (tournament_cancel, tournament_delete):
            with pytest.raises(NotYourTournamentError):
                action(user=stranger, tournament_id=tournament.pk)
    pairing_play(claim_pairing(tournament))
    claimed_pairing = claim_pairing(tournament)
    cancelled_tournament = tournament_cancel(user=owner, tournament_id=tournament.pk)
    assert cancelled_tournament.status == JobStatus.CANCELLED
    assert pairing_play(claimed_pairing) == [], "the result of a cancelled pairing is not stored"
    assert n_finished(tournament) == 1
    tournament_play(tournament.pk)
    assert n_finished(tournament) == 1
    assert tournament_cancel(user=staff, tournament_id=tournament.pk).version == cancelled_tournament.version
    tournament_delete(user=staff, tournament_id=tournament.pk)
    assert not Tournament.objects.exists()
    assert Machine.objects.filter(slug="one").exists()


# The command


def test_the_command_runs_a_tournament(capsys: pytest.CaptureFixture[str]) -> None:
    entries = entrant_slugs()
    call_command("tournament", "--machines", ",".join(entries), "--games", "200", "--seed", "8")
    output = capsys.readouterr().out
    expected = outcome(play_tournament(entries))
    assert outcome(Tournament.objects.order_by("pk")[0]) == expected
    names = {entry["number"]: entry["name"] for entry in expected["entries"]}
    lines = [line for line in output.splitlines() if any(name in line for name in names.values())]
    assert len(lines) >= 6
    for line, row in zip(lines, expected["standings"], strict=False):
        assert names[row["entry"]] in line
        assert f"{row['score']:.1%}" in line
    assert "seed 8" in output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--machines", "nowhere,random", "--games", "1"], "There is no machine 'nowhere'"),
        (["--machines", "m,random", "--games", "0"], "games: Please give at least 1"),
    ],
)
def test_the_command_reports_errors(arguments: list[str], reason: str) -> None:
    machine(Side.FIRST, slug="m")
    with pytest.raises(CommandError, match=reason):
        call_command("tournament", *arguments)


def test_every_fixed_opponent_can_take_part() -> None:
    machine(Side.SECOND, slug="one")
    assert play_tournament(["one", *UNIFORM], games=5).status == JobStatus.FINISHED
