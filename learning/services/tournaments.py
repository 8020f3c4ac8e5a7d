"""Tournaments: start, cancel and delete them. Workers play the pairings (``workers.pairings``); no machine learns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from beadbox import field_text
from beadbox.engines.registry import engine_of
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.registry import game_get
from beadbox.seeds import SeedError, seed_checked, seed_or_random
from beadbox.strength.graph import graph_compile
from beadbox.tournaments.pairings import round_robin, swiss_rounds_usual
from games.accounts.principal import AnyUser
from games.limits.quotas import account_lock, quota_require, site_require
from learning import tasks
from learning.access import machine_find, machine_for, staff_may
from learning.exceptions import (
    NotYourTournamentError,
    TournamentQuotaError,
    TournamentRefusedError,
)
from learning.kinds.registry import kind_of
from learning.models import JobStatus, Machine, Tournament, TournamentEntry, TournamentFormat
from learning.selectors.tournaments import tournament_for
from learning.storage.locks import machine_lock
from learning.workers.pairings import PAIRINGS, entrant_of, round_begin, tournament_end, tournament_tell

MAX_ENTRIES = 32
FEW_ENTRIES_TEXT = f"A tournament needs 2 to {MAX_ENTRIES} players. Please choose more."
MAX_GAMES_PER_PAIRING = 1_000_000
MAX_LONG_GAMES = 1000
"""Maximum number of games of a pairing that is played move by move, at about 25 ms a game."""


def max_games_per_pairing(game: AnyGame, machines: Iterable[Machine]) -> int:
    """Return the maximum number of games of a pairing in a tournament of this game with these machines."""
    by_table = game.listable and all(kind_of(machine).training.has_table(machine) for machine in machines)
    return MAX_GAMES_PER_PAIRING if by_table else MAX_LONG_GAMES


@transaction.atomic
def tournament_start(
    *,
    user: AnyUser | None,
    entries: Sequence[str],
    games: int,
    game: str = "",
    name: str = "",
    format: str = TournamentFormat.ROUND_ROBIN,  # noqa: A002 - the name in the API
    rounds: int | None = None,
    seed: int | None = None,
    enqueue: bool = True,
) -> Tournament:
    """Start a tournament: store the current state of its players and the first pairings, and wake the workers.

    Args:
        user: the requesting account; ``None`` for the operator's command, which may enter every machine.
        entries: ids or slugs of machines, and slugs of fixed opponents; each once.
        games: games of each pairing. Two entrants that play both sides have one pairing for each seating.
        game: slug of the game; required if no entry is a machine.
        name: name of the tournament; by default its format and number of players.
        format: ``round-robin`` or ``swiss``.
        rounds: rounds of a Swiss tournament; by default the usual number.
        seed: seed of all games and draws of lots; random by default.
        enqueue: ``False`` for a command that plays the tournament in its own process.

    Raises:
        MachineNotFoundError, TournamentRefusedError, TournamentQuotaError.
    """
    seed = seed_or_random(seed)
    _require_numbers(entries, games, format, rounds, seed)
    owner = cast("User | None", user)
    if owner is not None and staff_may(owner, "change_tournament"):
        account_lock(owner)
    elif owner is not None:
        site_require("learning_tournament")
        running = Tournament.objects.filter(owner=owner, status=JobStatus.RUNNING)
        quota_require(owner, running, settings.OPEN_TOURNAMENTS_PER_ACCOUNT, lambda n: TournamentQuotaError())
    machines = _lock_machines(user, entries)
    rules = _tournament_game(machines.values(), entries, game)
    if games > (max_games := max_games_per_pairing(rules, machines.values())):
        raise TournamentRefusedError(f"games: {field_text.at_most(max_games)}")
    tournament = Tournament.objects.create(
        owner=owner,
        name=name
        or f"{'Swiss tournament' if format == TournamentFormat.SWISS else 'Round robin'} of {len(entries)} players",
        game=rules.slug,
        format=format,
        n_games=games,
        n_rounds=rounds or (swiss_rounds_usual(len(entries)) if format == TournamentFormat.SWISS else 1),
        seed=seed,
        is_public=all(machine.is_public for machine in machines.values()),
    )
    entry_rows = [_entry_row(tournament, number, entry, machines) for number, entry in enumerate(entries)]
    _require_meetings(entry_rows)
    TournamentEntry.objects.bulk_create(entry_rows)
    pairings = round_begin(tournament)
    if enqueue:
        transaction.on_commit(lambda: tasks.wake_up(PAIRINGS, pairings))
    return tournament


@transaction.atomic
def tournament_cancel(*, user: AnyUser, tournament_id: int) -> Tournament:
    """Cancel a tournament. The games already played are kept; a finished tournament does not change.

    Raises:
        TournamentNotFoundError, NotYourTournamentError.
    """
    tournament = _lock_permitted(user, tournament_id, "change_tournament")
    if tournament.status == JobStatus.RUNNING:
        tournament_end(tournament, JobStatus.CANCELLED)
        transaction.on_commit(lambda: tournament_tell(tournament))
    return tournament


@transaction.atomic
def tournament_delete(*, user: AnyUser, tournament_id: int) -> None:
    """Delete a tournament with its results. Its machines do not change.

    Raises:
        TournamentNotFoundError, NotYourTournamentError.
    """
    _lock_permitted(user, tournament_id, "delete_tournament").delete()


def _lock_permitted(user: AnyUser, tournament_id: int, permission: str) -> Tournament:
    """Lock a tournament that the account owns, or any tournament if the account has this staff permission.

    Call inside a transaction.

    Raises:
        TournamentNotFoundError, NotYourTournamentError.
    """
    visible = tournament_for(user, tournament_id)
    if not user.is_authenticated or not (visible.owner_id == user.pk or staff_may(user, permission)):
        raise NotYourTournamentError
    return Tournament.objects.select_for_update(of=("self",)).get(pk=tournament_id)


def _require_numbers(entries: Sequence[str], games: int, format_: str, rounds: int | None, seed: int) -> None:
    if not 2 <= len(entries) <= MAX_ENTRIES:
        raise TournamentRefusedError(
            f"entries: {FEW_ENTRIES_TEXT if len(entries) < 2 else field_text.at_most_entries(MAX_ENTRIES)}"
        )
    if format_ not in TournamentFormat.values:
        raise TournamentRefusedError(f"format: {field_text.one_of(TournamentFormat.values)}")
    if games < 1:
        raise TournamentRefusedError(f"games: {field_text.at_least(1)}")
    if games > MAX_GAMES_PER_PAIRING:
        raise TournamentRefusedError(f"games: {field_text.at_most(MAX_GAMES_PER_PAIRING)}")
    if rounds is not None and format_ != TournamentFormat.SWISS:
        raise TournamentRefusedError("rounds: Only a Swiss tournament has a number of rounds.")
    if rounds is not None and not 1 <= rounds < len(entries):
        raise TournamentRefusedError(f"rounds: {field_text.between(1, len(entries) - 1)}")
    try:
        seed_checked(seed)
    except SeedError as error:
        raise TournamentRefusedError(str(error)) from None


def _lock_machines(user: AnyUser | None, entries: Sequence[str]) -> dict[str, Machine]:
    """Lock the machines among the entries, and return them by entry.

    All locks are held together, so the stored states of the machines date from the same moment.

    Raises:
        MachineNotFoundError, NotYourMachineError.
        TournamentRefusedError: a player is named twice.
    """
    machines = {
        entry: machine_find(entry) if user is None else machine_for(user, entry, to="play")
        for entry in entries
        if entry not in OPPONENTS
    }
    ids = [machine.pk for machine in machines.values()]
    if len({*ids}) + len({entry for entry in entries if entry in OPPONENTS}) < len(entries):
        raise TournamentRefusedError("entries: Each player can take part only once.")
    return dict(zip(machines, machine_lock(*ids), strict=True))


def _tournament_game(machines: Iterable[Machine], entries: Sequence[str], requested: str) -> AnyGame:
    """Return the game of the tournament: the requested game, or the one that all machines play.

    Raises:
        TournamentRefusedError: no game or several games are named, the game is unknown or too large, or a fixed
            opponent cannot take part.
    """
    games = sorted({machine.game for machine in machines} | ({requested} if requested else set()))
    if not games:
        raise TournamentRefusedError("game: Please name a game, or choose at least one machine.")
    if len(games) > 1:
        raise TournamentRefusedError(f"entries: Please choose machines of one game. These play {' and '.join(games)}.")
    try:
        game = game_get(games[0])
    except UnknownGameError as error:
        raise TournamentRefusedError(f"game: {error}") from None
    if engine_of(game) is None:  # games with an engine are played move by move, and need no graph
        try:
            graph_compile(game, reduced=True)
        except ValueError as error:
            raise TournamentRefusedError(f"entries: {error}") from None
    for entry in entries:
        if entry in OPPONENTS and OPPONENTS[entry].is_slow:
            raise TournamentRefusedError(
                f"entries: {OPPONENTS[entry].name} plays better on a faster computer, so no result could be repeated."
            )
        if entry in OPPONENTS and not OPPONENTS[entry].plays(game):
            raise TournamentRefusedError(f"entries: {OPPONENTS[entry].name} does not play {game.name}.")
    return game


def _require_meetings(rows: Sequence[TournamentEntry]) -> None:
    """Raise ``TournamentRefusedError`` if an entry would have no opponent."""
    meetings = round_robin([entrant_of(row) for row in rows])
    paired = {number for meeting in meetings for number in (meeting.first, meeting.second)}
    for row in rows:
        if row.number not in paired:
            side = "second" if row.side == 0 else "first"
            raise TournamentRefusedError(f"entries: {row.name} has no opponent. Add a player that can play {side}.")


def _entry_row(tournament: Tournament, number: int, entry: str, machines: dict[str, Machine]) -> TournamentEntry:
    machine = machines.get(entry)
    if machine is None:
        return TournamentEntry(tournament=tournament, number=number, name=OPPONENTS[entry].name, opponent=entry)
    row = TournamentEntry(
        tournament=tournament, number=number, name=machine.name, machine=machine, rule=machine.rule_json
    )
    for field, value in kind_of(machine).training.entry_fields(machine).items():
        setattr(row, field, value)
    return row
