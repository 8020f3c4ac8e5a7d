"""Tournaments as background jobs: each pairing is played by the worker that claims it, then the next round begins.

The result of a pairing depends only on the tournament's seed, the pairing's number and the memory stored with the
entries. So it makes no difference which worker plays the pairing, when, or how often. If a worker dies, its lease
expires. Another worker then plays the pairing from its beginning or, for long games, from the stored progress.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.readiness import MAX_PLAIN_GAMES, games_compiling, kernels_compiling
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.play import MovePlayer
from beadbox.tournaments.contest import NO_GAMES, Contest, contest, contest_by_moves
from beadbox.tournaments.pairings import Entrant, Meeting, round_robin, swiss_meetings
from games.transport.database_errors import SERVER_ERROR_CLASSES as DATABASE_ERRORS
from learning import events
from learning.kinds.machines import entry_player, entry_require
from learning.models import JobStatus, Pairing, Tournament, TournamentEntry, TournamentFormat
from learning.selectors.tournaments import results_of, tournament_whole
from learning.workers import jobs
from learning.workers.jobs import JobKind, JobLostError, TurnEnd

logger = logging.getLogger("learning.workers.pairings")

LEASE_S = 20
"""Seconds without a renewal after which another worker may play a pairing."""
POLL_S = 0.2
"""Seconds that :func:`tournament_play` waits if no pairing can be claimed."""
STORE_EVERY_S = 1
"""Seconds between two updates of a pairing's progress and lease while games are played move by move."""
TELL_EVERY_S = 1
"""Minimum seconds between two messages to a tournament's page; the end of a tournament is always sent."""


def claimable_pairings(tournament_id: int) -> list[int]:
    """Return the ids of the pairings of a tournament that wait or have an expired lease, in order of their numbers."""
    pairings = Pairing.objects.filter(jobs.waiting_filter(timezone.now()), tournament_id=tournament_id)
    return list(pairings.order_by("number").values_list("pk", flat=True))


def pairing_play(pairing: Pairing, turn: TurnEnd | None = None) -> list[int]:
    """Play a claimed pairing and store its result; return the ids of the pairings that wait afterwards.

    After the last pairing of a round, these are the pairings of the next round. If the turn ends between two long
    games, it is the same pairing. Nothing is stored if another worker has claimed the pairing meanwhile, or if its
    tournament was cancelled or deleted.
    """
    try:
        result = _play_games(pairing, turn or TurnEnd())
        if result is None:
            return [pairing.pk]
        with transaction.atomic():
            tournament = _lock_running(pairing)
            if tournament is None:
                return []
            jobs.end(pairing, JobStatus.FINISHED, expected=result.expected, random_state="", **_result_fields(result))
            waiting = [] if _unfinished_pairings(tournament).exists() else _advance(tournament)
            tournament.version += 1
            tournament.save()
    except JobLostError:
        return []
    tournament_tell(tournament)
    return waiting


def _result_fields(result: Contest) -> dict[str, int]:
    return {"n_first_wins": result.first_wins, "n_draws": result.draws, "n_second_wins": result.second_wins}


def tournament_play(tournament_id: int, progress: Callable[[Pairing], None] | None = None) -> None:
    """Play a tournament to its end in this process; wait for pairings that other workers have claimed.

    ``progress`` is called after each pairing that this process has played.
    """
    while Tournament.objects.filter(pk=tournament_id, status=JobStatus.RUNNING).exists():
        waiting = claimable_pairings(tournament_id)
        if not waiting:
            time.sleep(POLL_S)
        for pairing_id in waiting:
            pairing = PAIRINGS.claim(pairing_id)
            if pairing is not None:
                pairing_play(pairing)
                if progress is not None:
                    progress(pairing)


def round_begin(tournament: Tournament) -> list[int]:
    """Store the pairings of the tournament's current round; return their ids: none if all possible pairs have met.

    Call inside a transaction that holds the tournament's lock.
    """
    entries = list(tournament.entries.defer("beads", "rule").order_by("number"))
    by_number = {entry.number: entry for entry in entries}
    n_before = tournament.pairings.count()
    pairings = Pairing.objects.bulk_create(
        Pairing(
            tournament=tournament,
            number=n_before + index,
            round=tournament.round,
            first=by_number[meeting.first],
            second=by_number[meeting.second],
        )
        for index, meeting in enumerate(_round_meetings(tournament, [entrant_of(entry) for entry in entries]))
    )
    return [pairing.pk for pairing in pairings]


def entrant_of(entry: TournamentEntry) -> Entrant:
    """Return an entry in the form of the pairing algorithms: its number and the sides that it can play."""
    return Entrant(entry.number) if entry.side is None else Entrant(entry.number, frozenset((entry.side,)))


def pairing_fail(pairing: Pairing, error: Exception) -> None:
    """End a tournament as failed because one of its pairings cannot be played; ``error`` is the reason.

    Nothing happens if another worker has claimed the pairing meanwhile, because that worker may be able to play it.
    """
    try:
        with transaction.atomic():
            tournament = _lock_running(pairing)
            if tournament is None:
                return
            jobs.end(pairing, JobStatus.FAILED)
            tournament_end(tournament, JobStatus.FAILED, jobs.error_text(error))
    except JobLostError:
        return
    tournament_tell(tournament)


def tournament_end(tournament: Tournament, status: JobStatus, error: str = "") -> None:
    """End a tournament early, and cancel its unfinished pairings. Call inside a transaction that has its lock."""
    is_unfinished = Q(status=JobStatus.QUEUED) | Q(status=JobStatus.RUNNING)
    tournament.pairings.filter(is_unfinished).update(status=JobStatus.CANCELLED, lease_until=None)
    tournament.status, tournament.error, tournament.finished_at = status, error, timezone.now()
    tournament.version += 1
    tournament.save()


def tournament_tell(tournament: Tournament) -> None:
    """Send the state of a tournament to its open pages; while it runs, at most every :data:`TELL_EVERY_S` seconds."""
    is_over = tournament.status != JobStatus.RUNNING
    is_due = is_over or cache.add(f"tournament-told:{tournament.pk}", 1, TELL_EVERY_S)
    if is_due and events.tournament_is_watched(tournament.pk):
        events.tournament_changed(tournament.pk, *tournament_whole(tournament))


def _lock_running(pairing: Pairing) -> Tournament | None:
    """Lock and return the tournament of a pairing; ``None`` if it is not running. Call inside a transaction."""
    going_on = Tournament.objects.filter(pk=pairing.tournament_id, status=JobStatus.RUNNING)
    return going_on.select_for_update(of=("self",)).first()


def _advance(tournament: Tournament) -> list[int]:
    """Begin the next round and return the ids of its pairings, or end the tournament and return none.

    The caller saves the tournament.
    """
    if tournament.round < tournament.n_rounds:
        tournament.round += 1
        pairings = round_begin(tournament)
        if pairings:
            return pairings
        tournament.round -= 1  # all possible pairs have met before the last round
        tournament.n_rounds = tournament.round
    tournament.status, tournament.finished_at = JobStatus.FINISHED, timezone.now()
    return []


def _round_meetings(tournament: Tournament, entrants: list[Entrant]) -> list[Meeting]:
    if tournament.format == TournamentFormat.ROUND_ROBIN:
        return round_robin(entrants)
    return swiss_meetings(entrants, results_of(tournament), tournament.seed, tournament.round)


def _unfinished_pairings(tournament: Tournament) -> QuerySet[Pairing]:
    return tournament.pairings.exclude(status=JobStatus.FINISHED)


def _play_games(pairing: Pairing, turn: TurnEnd) -> Contest | None:
    """Play the games of a pairing and return the result; ``None`` if the turn ends before the last game.

    Raises:
        JobLostError: the pairing was cancelled or claimed by another worker.
    """
    tournament = pairing.tournament
    rng, game = RandomSource(tournament.seed, pairing.number), tournament.game_rules
    first, second = (_entry_player(entry, game) for entry in (pairing.first, pairing.second))
    if game.listable and first.table is not None and second.table is not None:
        return contest(game, first.table, second.table, tournament.n_games, rng)
    return _play_long_games(pairing, first.played, second.played, rng, turn)


def _play_long_games(
    pairing: Pairing, first: MovePlayer, second: MovePlayer, rng: RandomSource, turn: TurnEnd
) -> Contest | None:
    """Play like :func:`_play_games`, but move by move, continuing from stored progress and storing new progress."""
    tournament = pairing.tournament
    stored_at, earlier = time.monotonic(), NO_GAMES
    if pairing.random_state:
        rng = RandomSource.from_text(pairing.random_state)
        earlier = Contest(pairing.n_first_wins, pairing.n_draws, pairing.n_second_wins, None)

    def goes_on(so_far: Contest) -> bool:
        nonlocal stored_at
        state = {"random_state": rng.text, **_result_fields(so_far)}
        if turn.is_reached and sum(_result_fields(so_far).values()) < tournament.n_games:
            jobs.release(pairing, **state)
            return False
        if time.monotonic() - stored_at >= STORE_EVERY_S:
            stored_at = time.monotonic()
            _store_progress(pairing, state)
        return True

    result = contest_by_moves(tournament.game_rules, first, second, tournament.n_games, rng, goes_on, earlier)
    if result is not None:
        for entry in (pairing.first, pairing.second):
            if not entry.opponent:
                entry_require(entry)
    return result


def _store_progress(pairing: Pairing, state: dict[str, Any]) -> None:
    """Renew the lease of a pairing and store its progress.

    Raises:
        JobLostError: the pairing was cancelled or claimed by another worker.
    """
    jobs.renew(pairing, LEASE_S, **state)
    tournament_tell(pairing.tournament)


def _entry_player(entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
    """Return the player of an entry, with the memory that it had when the tournament began."""
    if entry.opponent:
        return ContestPlayer(OPPONENTS[entry.opponent], OPPONENTS[entry.opponent])
    return entry_player(entry, game)


class Pairings(JobKind[Pairing]):
    """Pairings as jobs: in one turn, a worker plays as many pairings of one tournament as it can."""

    slug = "pairings"
    model = Pairing
    related = ("tournament", "first", "second")
    lease_s = LEASE_S
    account = "tournament__owner"
    # Pairings begun in an earlier turn have the lowest numbers, so they are finished first.
    order = ("number", "pk")

    @property
    def eligible(self) -> QuerySet[Pairing]:
        """All pairings except those that wait for compiled kernels."""
        rows = self.rows
        if kernels_compiling():
            rows = rows.filter(tournament__n_games__lte=MAX_PLAIN_GAMES)
        if games := games_compiling():
            rows = rows.exclude(tournament__game__in=games)
        return rows

    def account_of(self, job: Pairing) -> int | None:
        return job.tournament.owner_id

    def take_turn(self, job: Pairing, end: TurnEnd) -> list[int]:
        pairing: Pairing | None = job
        while pairing is not None:
            waiting = _play_or_fail(pairing, end)
            if waiting or end.is_reached:
                return waiting
            pairing = next(filter(None, map(PAIRINGS.claim, claimable_pairings(job.tournament_id))), None)
        return []


def _play_or_fail(pairing: Pairing, turn: TurnEnd) -> list[int]:
    try:
        return pairing_play(pairing, turn)
    except DATABASE_ERRORS:
        raise  # the lease expires, and recovery plays the pairing when the database is available again
    except Exception as error:
        logger.exception("pairing %s could not be played", pairing.pk)
        pairing_fail(pairing, error)
        raise


PAIRINGS = Pairings()
