"""Reads of tournaments: standings, crosstable and ratings, as pages, sockets and the API show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet

from beadbox.engines.registry import engine_of
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.seeds import seed_to_json
from beadbox.tournaments.ratings import Rating, ratings
from beadbox.tournaments.standings import Result, table
from games.accounts.principal import UNKNOWN_PRINCIPAL, AnyUser, Principal
from games.live.room_state import HIDDEN_MACHINE_TEXT
from learning.access import machines_visible, may_see, staff_may
from learning.exceptions import TournamentNotFoundError
from learning.models import JobStatus, Pairing, Tournament, TournamentEntry
from learning.states import (
    EntryState,
    PairingState,
    PrivateEntry,
    TournamentBrief,
    TournamentChange,
    TournamentState,
)

RATINGS_CACHE_S = 24 * 3600
STOPPED_TOURNAMENT_TEXT = f"It had to stop, and {HIDDEN_MACHINE_TEXT} takes part in it."


def tournaments_visible(user: AnyUser | None) -> QuerySet[Tournament]:
    """Return the tournaments that the user may see, newest first: public and own ones, or all for permitted staff."""
    tournaments = Tournament.objects.select_related("owner").order_by("-pk")
    if user is None or not user.is_authenticated:
        return tournaments.filter(is_public=True)
    may_see_all = staff_may(user, "view_tournament", "change_tournament")
    return tournaments if may_see_all else tournaments.filter(Q(is_public=True) | Q(owner=user))


def tournament_for(user: AnyUser | None, tournament_id: int) -> Tournament:
    """Return the tournament with this id, if the user may see it.

    Raises:
        TournamentNotFoundError.
    """
    tournament = tournaments_visible(user).filter(pk=tournament_id).first()
    if tournament is None:
        raise TournamentNotFoundError
    return tournament


def tournaments_with_counts(tournaments: QuerySet[Tournament]) -> QuerySet[Tournament]:
    """Return the tournaments with their numbers of entries, pairings, and finished pairings."""
    return tournaments.annotate(
        n_entries=Count("entries", distinct=True),
        n_pairings=Count("pairings", distinct=True),
        n_done=Count("pairings", filter=Q(pairings__status=JobStatus.FINISHED), distinct=True),
    )


def tournament_games(user: AnyUser | None) -> list[AnyGame]:
    """Return the games for tournaments: games whose positions can be listed, and games with an engine.

    A game with added rules is included only if a visible machine plays it.
    """
    games_of_machines = set(machines_visible(user).filter(side=None).values_list("game", flat=True).distinct())
    possible = [game for game in GAMES.values() if game.listable or engine_of(game) is not None]
    return [game for game in possible if not game.added or game.slug in games_of_machines]


def results_of(tournament: Tournament) -> list[Result]:
    """Return the results of the finished pairings, in order; ``first`` and ``second`` are numbers of entries."""
    return [_result(pairing) for pairing in _pairings(tournament) if pairing.status == JobStatus.FINISHED]


def tournament_brief(tournament: Tournament) -> TournamentBrief:
    """Return a tournament as the API shows it in a list."""
    return {
        "id": tournament.pk,
        "name": tournament.name,
        "game": tournament.game,
        "format": tournament.format,
        "games": tournament.n_games,
        "rounds": tournament.n_rounds,
        "round": tournament.round,
        "seed": seed_to_json(tournament.seed),
        "status": tournament.status,
        "public": tournament.is_public,
        "owner": tournament.owner.get_username() if tournament.owner else None,
        "created_at": tournament.created_at.isoformat(),
        "finished_at": tournament.finished_at.isoformat() if tournament.finished_at else None,
    }


def tournament_line(tournament: Tournament) -> dict[str, object]:
    """Return a tournament as a line of a list and as the head of its page."""
    return {
        "id": tournament.pk,
        "name": tournament.name,
        "url": tournament.get_absolute_url(),
        "game": tournament.game_rules.name,
        "format": tournament.get_format_display(),
        "status": tournament.status,
        "status_words": tournament.get_status_display(),
        "is_over": tournament.status != JobStatus.RUNNING,
        "owner": tournament.owner.get_username() if tournament.owner else "",
        "public": tournament.is_public,
        "when": tournament.created_at,
        "n_entries": getattr(tournament, "n_entries", None),
        "n_pairings": getattr(tournament, "n_pairings", None),
        "n_done": getattr(tournament, "n_done", None),
    }


def tournament_view(tournament: Tournament, viewer: Principal = UNKNOWN_PRINCIPAL) -> TournamentState:
    """Return the part of a tournament and its tables that this viewer may know; the default viewer is a guest."""
    return tournament_redacted(*tournament_whole(tournament), viewer)


def tournament_redacted(whole: TournamentState, private: list[PrivateEntry], viewer: Principal) -> TournamentState:
    """Return the part of :func:`tournament_whole` that this viewer may know. No query.

    A machine that the viewer may not see loses its name, its id and its expected results; its actual results stay. The
    error text of a tournament may name any machine, so a general text replaces it.
    """
    hidden = {entry["entry"] for entry in private if not may_see(viewer, entry["audience"])}
    if not hidden:
        return whole
    entries: list[EntryState] = [
        {**entry, "name": HIDDEN_MACHINE_TEXT, "machine": None, "url": None} if entry["number"] in hidden else entry
        for entry in whole["entries"]
    ]
    met_hidden = {
        row["entry"]
        for row in whole["crosstable"]
        if hidden & {row["entry"], *(cell["entry"] for cell in row["against"])}
    }
    return {
        **whole,
        "error": whole["error"] and STOPPED_TOURNAMENT_TEXT,
        "entries": entries,
        "standings": [
            {**row, "expected": None if row["entry"] in met_hidden else row["expected"]} for row in whole["standings"]
        ],
        "crosstable": [
            {
                **row,
                "against": [
                    {**cell, "expected": None if hidden & {row["entry"], cell["entry"]} else cell["expected"]}
                    for cell in row["against"]
                ],
            }
            for row in whole["crosstable"]
        ],
        "pairings": [
            {**pairing, "expected": None if hidden & {pairing["first"], pairing["second"]} else pairing["expected"]}
            for pairing in whole["pairings"]
        ],
    }


def tournament_change(before: TournamentState, after: TournamentState) -> TournamentChange:
    """Return the changes of a tournament between two states, both redacted for the same viewer."""
    entries = [entry for entry in after["entries"] if entry not in before["entries"]]
    standings = {row["entry"]: row for row in before["standings"]}
    crosstable = {row["entry"]: row for row in before["crosstable"]}
    pairings = {pairing["number"]: pairing for pairing in before["pairings"]}
    return {
        **after,
        "since": before["version"],
        "order": [row["entry"] for row in after["standings"]],
        "entries": entries,
        "standings": [row for row in after["standings"] if row != standings.get(row["entry"])],
        "crosstable": [row for row in after["crosstable"] if row != crosstable.get(row["entry"])],
        "pairings": [pairing for pairing in after["pairings"] if pairing != pairings.get(pairing["number"])],
    }


def tournament_whole(tournament: Tournament) -> tuple[TournamentState, list[PrivateEntry]]:
    """Return the whole state of a tournament, and the audience of each private entry, for redaction.

    The state takes two queries. Ratings are computed once for each version and cached.
    """
    entries = list(tournament.entries.select_related("machine").defer("beads", "rule").order_by("number"))
    pairings = _pairings(tournament)
    results = [_result(pairing) for pairing in pairings if pairing.status == JobStatus.FINISHED]
    numbers = [entry.number for entry in entries]
    rating_of = _ratings(tournament, numbers, results)
    sides = {entry.number: None if entry.side is None else Side(entry.side) for entry in entries}
    table_rows = table(numbers, results, sides)
    private: list[PrivateEntry] = [
        {"entry": entry.number, "audience": entry.machine.audience}
        for entry in entries
        if entry.machine is not None and not entry.machine.is_public
    ]
    whole: TournamentState = {
        **tournament_brief(tournament),
        "version": tournament.version,
        "error": tournament.error,
        "pairings_done": len(results),
        "pairings_total": len(pairings),
        "entries": [_entry_view(entry) for entry in entries],
        "standings": [
            {
                "entry": row.number,
                "place": row.place,
                "games": row.games,
                "wins": row.wins,
                "draws": row.draws,
                "losses": row.losses,
                "points": row.points,
                "score": row.score,
                "expected": row.expected,
                "rating": rating_of[row.number].mean,
                "uncertainty": rating_of[row.number].deviation,
            }
            for row in table_rows
        ],
        "crosstable": [
            {
                "entry": row.number,
                "against": [
                    {"entry": other, "games": games, "points": points, "expected": expected}
                    for other, (games, points, expected) in sorted(row.against.items())
                ],
            }
            for row in table_rows
        ],
        "pairings": [_pairing_view(pairing) for pairing in pairings],
    }
    return whole, private


def standings_rows(view: TournamentState) -> Iterator[list[object]]:
    """Yield the standings of a tournament as rows of a table, the header first."""
    columns = ("place", "games", "wins", "draws", "losses", "points", "score", "expected", "rating", "uncertainty")
    yield ["entry", "name", "machine", "opponent", "side", *columns]
    entries = {entry["number"]: entry for entry in view["entries"]}
    for row in view["standings"]:
        entry: Any = entries[row["entry"]]
        line: Any = row
        yield [
            *(row["entry"], *(entry[column] for column in ("name", "machine", "opponent", "side"))),
            *(line[column] for column in columns),
        ]


def pairing_rows(view: TournamentState) -> Iterator[list[object]]:
    """Yield the pairings of a tournament as rows of a table, the header first.

    Expected results are shares of all games of the pairing.
    """
    expected = ("first_wins_expected", "draws_expected", "second_wins_expected")
    yield ["number", "round", "first", "second", "status", "first_wins", "draws", "second_wins", *expected]
    names = {entry["number"]: entry["name"] for entry in view["entries"]}
    for pairing in view["pairings"]:
        yield [
            *(
                pairing["number"],
                pairing["round"],
                names[pairing["first"]],
                names[pairing["second"]],
                pairing["status"],
            ),
            *(pairing["first_wins"], pairing["draws"], pairing["second_wins"]),
            *(pairing["expected"] or []),
        ]


def _pairings(tournament: Tournament) -> list[Pairing]:
    return list(
        tournament.pairings.select_related("first", "second")
        .defer("first__beads", "first__rule", "second__beads", "second__rule")
        .order_by("number")
    )


def _result(pairing: Pairing) -> Result:
    return Result(
        pairing.first.number,
        pairing.second.number,
        pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins,
        pairing.n_first_wins,
        pairing.n_draws,
        pairing.n_second_wins,
        tuple(pairing.expected) if pairing.expected else None,
    )


def _ratings(tournament: Tournament, numbers: list[int], results: list[Result]) -> dict[int, Rating]:
    key = f"ratings:{tournament.pk}:{tournament.created_at.timestamp()}:{tournament.version}:{len(results)}"
    rating_of: dict[int, Rating] | None = cache.get(key)
    if rating_of is None:
        rating_of = ratings(numbers, results)
        cache.set(key, rating_of, RATINGS_CACHE_S)
    return rating_of


def _entry_view(entry: TournamentEntry) -> EntryState:
    return {
        "number": entry.number,
        "name": entry.name,
        "opponent": entry.opponent or None,
        "machine": entry.machine_id,
        "side": entry.side,
        "url": entry.machine.get_absolute_url() if entry.machine else None,
    }


def _pairing_view(pairing: Pairing) -> PairingState:
    return {
        "number": pairing.number,
        "round": pairing.round,
        "first": pairing.first.number,
        "second": pairing.second.number,
        "status": pairing.status,
        "first_wins": pairing.n_first_wins,
        "draws": pairing.n_draws,
        "second_wins": pairing.n_second_wins,
        "expected": pairing.expected,
    }
