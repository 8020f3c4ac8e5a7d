"""The one road of a tournament: pairing by pairing, each by whoever claims it, and a new round after the last of one.

A pairing's games follow from the tournament's seed, the pairing's number and the beads stored with the entries, so
it does not matter who plays it, when, or how often. A worker that dies leaves a lease that runs out; another plays
the pairing again from its beginning.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from games.rules.base import Side
from games.rules.romgon.rules import Romgon
from learning import events
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.q_learning import QRule
from learning.core.machines.rule import Rule
from learning.core.opponents.registry import OPPONENTS
from learning.core.tournaments.meetings import Entrant, Meeting, round_robin, swiss_round
from learning.core.tournaments.standings import table
from learning.core.training.contest import Contest, Player, contest
from learning.core.training.memory import Memory
from learning.core.training.q_contest import FrozenValues, QPlayer, contest_played
from learning.core.training.tables import boxes_compile
from learning.exceptions import EntryGoneError
from learning.models import Pairing, RunStatus, Tournament, TournamentEntry, TournamentFormat
from learning.selectors_tournaments import results_of, tournament_view
from learning.storage_values import values_fetch_at, values_go_back_to

LEASE_S = 20
"""A pairing whose worker has not come back for this long may be played by another."""
LOOK_AGAIN_S = 0.2
"""How often who has nothing to play looks whether the others have done."""
SAY_EVERY_S = 1
"""How often a pairing of long games says how far it is, and that it is still being played."""
TELL_EVERY_S = 1
"""How often a tournament's page hears of it; of its last pairing it always hears."""
DRAW_STREAM = 1 << 32
"""The lots of a Swiss round take streams from here on; the pairings take those below."""


def pairing_claim(pairing_id: int) -> Pairing | None:
    """Take a pairing that waits, or whose worker's lease has run out; ``None`` when there is nothing to take."""
    now = timezone.now()
    # A condition on the row alone: one on its tournament would be a subquery, which is not asked again after a wait
    # for the row, and two workers would both have it.
    taken = Pairing.objects.filter(_waits(now), pk=pairing_id).update(
        status=RunStatus.RUNNING, lease_until=now + timedelta(seconds=LEASE_S)
    )
    if not taken:
        return None
    return Pairing.objects.select_related("tournament", "first", "second").filter(pk=pairing_id).first()


def claimable(tournament_id: int) -> list[int]:
    """The pairings of a tournament that wait, or whose worker's lease has run out, in their order."""
    pairings = Pairing.objects.filter(_waits(timezone.now()), tournament_id=tournament_id)
    return list(pairings.order_by("number").values_list("pk", flat=True))


def _waits(now: datetime) -> Q:
    return Q(status=RunStatus.QUEUED) | Q(status=RunStatus.RUNNING, lease_until__lt=now)


def pairing_play(pairing: Pairing) -> list[int]:
    """Play a claimed pairing and store what came of it; the pairings of the next round, if that was the last of one.

    A pairing that somebody else has meanwhile, or whose tournament was called off or deleted, is left as it is.
    """
    played = _games(pairing)
    if played is None:
        return []
    with transaction.atomic():
        tournament = _going_on(pairing)
        if tournament is None:
            return []
        mine = Pairing.objects.filter(pk=pairing.pk, status=RunStatus.RUNNING, lease_until=pairing.lease_until)
        stored = mine.update(
            status=RunStatus.FINISHED,
            lease_until=None,
            n_first_wins=played.first_wins,
            n_draws=played.draws,
            n_second_wins=played.second_wins,
            expected=played.expected,
        )
        if not stored:
            return []
        following = [] if _unfinished(tournament).exists() else _advance(tournament)
        tournament.version += 1
        tournament.save()
    tournament_tell(tournament)
    return following


def tournament_play(tournament_id: int, progress: Callable[[Pairing], None] | None = None) -> None:
    """Play a tournament to its end in this process; pairings that others have claimed are left to them, and awaited."""
    while Tournament.objects.filter(pk=tournament_id, status=RunStatus.RUNNING).exists():
        waiting = claimable(tournament_id)
        if not waiting:
            time.sleep(LOOK_AGAIN_S)
        for pairing_id in waiting:
            pairing = pairing_claim(pairing_id)
            if pairing is not None:
                pairing_play(pairing)
                if progress is not None:
                    progress(pairing)


def round_begin(tournament: Tournament) -> list[int]:
    """Store the pairings of the tournament's round; their ids, none when nobody can meet any more.

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
        for index, meeting in enumerate(_meetings(tournament, [entrant_of(entry) for entry in entries]))
    )
    return [pairing.pk for pairing in pairings]


def entrant_of(entry: TournamentEntry) -> Entrant:
    """An entry as the pairing knows it."""
    return Entrant(entry.number) if entry.side is None else Entrant(entry.number, frozenset((entry.side,)))


def pairing_fail(pairing: Pairing, error: Exception) -> None:
    """End a tournament in which a pairing cannot be played: without it there is no result."""
    with transaction.atomic():
        tournament = _going_on(pairing)
        if tournament is None:
            return
        Pairing.objects.filter(pk=pairing.pk).update(status=RunStatus.FAILED, lease_until=None)
        tournament_end(tournament, RunStatus.FAILED, f"{type(error).__name__}: {error}"[:2000])
    tournament_tell(tournament)


def tournament_end(tournament: Tournament, status: RunStatus, error: str = "") -> None:
    """End a tournament before its time; what waits will not be played. Call inside a transaction that has its lock."""
    left = Q(status=RunStatus.QUEUED) | Q(status=RunStatus.RUNNING)
    tournament.pairings.filter(left).update(status=RunStatus.CANCELLED, lease_until=None)
    tournament.status, tournament.error, tournament.finished_at = status, error, timezone.now()
    tournament.version += 1
    tournament.save()


def tournament_tell(tournament: Tournament) -> None:
    """Tell a tournament's page how it stands, not too often while it goes on."""
    over = tournament.status != RunStatus.RUNNING
    if over or cache.add(f"tournament-told:{tournament.pk}", 1, TELL_EVERY_S):
        events.tournament_changed(tournament.pk, tournament_view(tournament))


def _going_on(pairing: Pairing) -> Tournament | None:
    """The tournament of a pairing, locked, if it still goes on. Call inside a transaction."""
    going_on = Tournament.objects.filter(pk=pairing.tournament_id, status=RunStatus.RUNNING)
    return going_on.select_for_update(of=("self",)).first()


def _advance(tournament: Tournament) -> list[int]:
    """Begin the next round, or end the tournament."""
    if tournament.round < tournament.n_rounds:
        tournament.round += 1
        following = round_begin(tournament)
        if following:
            return following
        tournament.round -= 1  # everybody has met everybody before the rounds were over
        tournament.n_rounds = tournament.round
    tournament.status, tournament.finished_at = RunStatus.FINISHED, timezone.now()
    return []


def _meetings(tournament: Tournament, entrants: list[Entrant]) -> list[Meeting]:
    if tournament.format == TournamentFormat.ROUND_ROBIN:
        return round_robin(entrants)
    results = results_of(tournament)
    met = {frozenset((result.first, result.second)) for result in results}
    rows = table([entrant.number for entrant in entrants], results)
    return swiss_round(
        entrants,
        scores={row.number: row.score for row in rows},
        met=met,
        n_met=Counter(number for pair in met for number in pair),
        below=RandomSource(tournament.seed, DRAW_STREAM + tournament.round).below,
    )


def _unfinished(tournament: Tournament) -> QuerySet[Pairing]:
    return tournament.pairings.exclude(status=RunStatus.FINISHED)


def _games(pairing: Pairing) -> Contest | None:
    """What comes of a pairing; ``None`` if in the middle of it nobody wanted to know any more."""
    tournament = pairing.tournament
    rng, game = RandomSource(tournament.seed, pairing.number), tournament.rules
    if isinstance(game, Romgon):
        return _long_games(pairing, game, rng)
    first, second = (_player(tournament, entry) for entry in (pairing.first, pairing.second))
    return contest(game, first, second, tournament.n_games, rng)


def _long_games(pairing: Pairing, game: Romgon, rng: RandomSource) -> Contest | None:
    """As :func:`_games`, move by move. Such games take long: now and then they say how far they are."""
    first, second = (_values_player(entry) for entry in (pairing.first, pairing.second))
    n_games, said_at = pairing.tournament.n_games, time.monotonic()

    def goes_on(so_far: Contest) -> bool:
        nonlocal said_at
        if time.monotonic() - said_at < SAY_EVERY_S:
            return True
        said_at = time.monotonic()
        return _say(pairing, so_far)

    played = contest_played(game, first, second, n_games, rng, goes_on)
    if played is not None:
        for entry in (pairing.first, pairing.second):
            _require_readable(entry)
    return played


def _say(pairing: Pairing, so_far: Contest) -> bool:
    """Renew the lease of a pairing and store how far it is; whether it is still wanted, and ours."""
    lease_until = timezone.now() + timedelta(seconds=LEASE_S)
    mine = Pairing.objects.filter(pk=pairing.pk, status=RunStatus.RUNNING, lease_until=pairing.lease_until)
    if not mine.update(
        lease_until=lease_until,
        n_first_wins=so_far.first_wins,
        n_draws=so_far.draws,
        n_second_wins=so_far.second_wins,
    ):
        return False
    pairing.lease_until = lease_until
    tournament_tell(pairing.tournament)
    return True


def _player(tournament: Tournament, entry: TournamentEntry) -> Player:
    """The entry as it was when the tournament began."""
    if entry.side is None:
        return OPPONENTS[entry.opponent]
    boxes = boxes_compile(tournament.rules, Side(entry.side), Rule.from_json(entry.rule))
    assert entry.beads is not None
    return Memory.load(boxes, ((position, beads, [0] * len(beads)) for position, beads in entry.beads.items()))


def _values_player(entry: TournamentEntry) -> QPlayer:
    """As :func:`_player`, in a game where machines keep values."""
    if entry.opponent:
        return OPPONENTS[entry.opponent]
    _require_readable(entry)
    assert entry.machine_id is not None
    assert entry.epsilon is not None
    assert entry.n_lessons is not None
    values = values_fetch_at(entry.machine_id, entry.n_lessons)
    return FrozenValues(QRule.from_json(entry.rule or {}), entry.epsilon, values)


def _require_readable(entry: TournamentEntry) -> None:
    """Refuse to go on with a machine whose values of then are gone.

    Raises:
        EntryGoneError.
    """
    if entry.n_lessons is None:
        return
    if entry.machine_id is None or not values_go_back_to(entry.machine_id, entry.n_lessons):
        raise EntryGoneError(f"{entry.name} was deleted or made to forget while the tournament went on.")
