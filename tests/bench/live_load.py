"""Live play by many players at once. The site runs as with ``make run``, and a further process has all players.

``python -m tests.bench live-load`` prints every figure. This command prints all measurements of a single case:

    python -m tests.bench.live_load --matches 300 --opponent menace --think 3 --seconds 30 --watchers 5

Afterwards the database is compared with the frames that the players received. Every move must be stored once and in
order. Every ended match must be counted once in the machine's totals and ledger. The ledger must explain every bead.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import IO, Any

from beadbox.rules.outcome import Side
from tests.bench.figures import Figure, spread
from tests.bench.live_client import Case
from tests.bench.live_site import OF_TRANSACTIONS, Sample, Site, Watch, kill_in_turn, running_site, statements
from tests.sizes import IS_SMALL, sized
from tests.waiting import HANG_S, wait_until

NO_LIMIT = "100000000"
NO_LIMITS_ENV = {
    **dict.fromkeys(("THROTTLE_API", "THROTTLE_WRITE", "THROTTLE_LIVE", "THROTTLE_ROOM"), f"{NO_LIMIT}/min"),
    "THROTTLE_MATCH": f"{NO_LIMIT}/day",
    **dict.fromkeys(("OPEN_ROOMS_PER_GUEST", "OPEN_ROOMS_PER_ADDRESS", "SOCKETS_PER_ADDRESS"), NO_LIMIT),
    **dict.fromkeys(("COPIES_PER_GUEST", "COPIES_PER_ADDRESS"), NO_LIMIT),
}
"""Settings without rate limits and quotas. The usual limits do not allow a thousand players behind one address."""
OPPONENTS: dict[str, dict[str, Any]] = {
    "menace": {"opponent": "menace", "side": "X"},
    "fresh": {"opponent": "menace", "side": "X", "fresh": True},
    "random": {"opponent": "random", "side": "X"},
}
HOUSE_MACHINE = "menace-second"
"""The opponent in rooms of "menace", where the players have X."""
BACKGROUND_JOBS = ("training", "tournament")
N_ENTRANTS = 8
KILLABLE_GROUPS = ("web", "postgres", "valkey", "workers")
N_SOME, N_MANY, N_ALL = sized((100, 300, 1000), (3, 5, 8))
"""Numbers of simultaneous matches."""


@dataclass(frozen=True)
class Result:
    """The players' results, the sample of the servers, and the differences found in the database."""

    found: dict[str, Any]
    sample: Sample
    statements: dict[str, tuple[int, float]]
    differences: list[str]

    @property
    def n_moves(self) -> int:
        """Moves sent in the measured time."""
        return len(self.found["milliseconds"])

    @property
    def rate(self) -> float:
        return self.n_moves / float(self.found["seconds"])

    @property
    def percentiles(self) -> tuple[float, float, float]:
        """The median, 95th and 99th percentile in milliseconds."""
        cuts = statistics.quantiles(self.found["milliseconds"], n=100)
        return cuts[49], cuts[94], cuts[98]

    @property
    def server_cpu_ms(self) -> float:
        """Processor milliseconds per move of the web processes, PostgreSQL and Valkey."""
        return 1000 * self.per_move(sum(self.sample.cpu_s.get(name, 0.0) for name in ("web", "postgres", "valkey")))

    def per_move(self, amount: float) -> float:
        """Return a sampled amount per move. The sample begins a second after the players do."""
        return amount / self.sample.seconds / self.rate

    @property
    def is_whole(self) -> bool:
        """Whether all moves were stored once, as the players and the database report."""
        return not self.found["faults"] and not self.differences


def play(
    site: Site, case: Case, *, log_statements: bool = False, meanwhile: Callable[[], None] | None = None
) -> Result:
    """Let all players play, then compare the frames they received with the stored rows.

    With ``meanwhile``, the players play until the call of ``meanwhile`` returns, and nothing is sampled.
    """
    from django.db import connection

    before = totals()
    if meanwhile is not None:
        results = play_during(case, meanwhile)
        connection.close()  # The server of the open connection may have died.
        return Result(results, Sample(results["seconds"]), {}, wrong_rows(results["rooms"], before))
    sampler, log_text = Watch(site), ""
    if log_statements:
        site.log_statements(True)
    with _playing(case) as (_, output):
        sampler.begin()
        logged_from = site.log.stat().st_size
        assert output.readline() == "end\n"
        if log_statements:
            with site.log.open() as log:
                log.seek(logged_from)
                log_text = log.read()
        sample = sampler.end()
        results = json.load(output)
    if log_statements:
        site.log_statements(False)
    sampler.close()
    return Result(results, sample, statements(log_text), wrong_rows(results["rooms"], before))


def play_during(case: Case, meanwhile: Callable[[], None]) -> dict[str, Any]:
    """Let all players play until ``meanwhile`` returns, and return their results; ``case.seconds`` is no limit."""
    with _playing(replace(case, seconds=HANG_S)) as (client, output):
        meanwhile()  # Call it in this thread, because a process that it starts dies with the thread.
        client.terminate()
        assert output.readline() == "end\n"
        results: dict[str, Any] = json.load(output)
    assert results["seconds"] < HANG_S, "the players stopped before the end of the call"
    return results


@contextlib.contextmanager
def _playing(case: Case) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Start the players' process; yield it with its output when all have begun, and kill it at the end."""
    command = [sys.executable, "-m", "tests.bench.live_client"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        try:
            assert client.stdin is not None
            assert client.stdout is not None
            json.dump(asdict(case), client.stdin)
            client.stdin.close()
            assert client.stdout.readline() == "begin\n"
            yield client, client.stdout
            assert client.wait() == 0
        finally:
            client.kill()


def wrong_rows(rooms: dict[str, Any], before: dict[int, tuple[int, int]]) -> list[str]:
    """Return the differences, in words, between the database and the frames that the players received."""
    from django.core.management import CommandError, call_command

    from games.models import MatchStatus, Ply, Room

    moves: dict[tuple[str, int], list[str]] = {}
    own_plies = Ply.objects.filter(match__room__code__in=rooms, match__seats__token_sha256__gt="")
    rows = own_plies.extra(where=["games_seat.side = games_ply.side"]).order_by("match_id", "number")
    for code, number, move in rows.values_list("match__room__code", "match__number", "move"):
        moves.setdefault((code, number), []).append(move)
    matches = Room.objects.filter(code__in=rooms).values_list("code", "matches__number", "matches__status")
    ended = {(code, number) for code, number, status in matches if status == MatchStatus.FINISHED}
    differences = []
    for code, (finished, answered) in rooms.items():
        for number, own in answered.items():
            if own != moves.pop((code, int(number)), []):
                differences.append(f"{code}.{number}: the stored moves differ from the answered moves")
        if {(code, number) for number in finished} != {one for one in ended if one[0] == code}:
            differences.append(f"{code}: other matches have ended than the frames say")
    differences += [f"{code}.{number}: moves of a match without frames" for code, number in moves]
    try:
        call_command("audit", stdout=io.StringIO())
    except CommandError as error:
        differences.append(str(error))
    return differences + _wrong_counts(before)


def totals() -> dict[int, tuple[int, int]]:
    """Return the numbers of games and of lessons from matches of each machine, by its id."""
    from django.db.models import Count, Q

    from learning.models import LessonKind, Machine

    of_matches = Count("lessons", filter=Q(lessons__kind=LessonKind.MATCH))
    rows = Machine.objects.annotate(of_matches=of_matches).values_list("pk", "n_games", "of_matches")
    return {pk: (n_games, n_lessons) for pk, n_games, n_lessons in rows}


def _wrong_counts(before: dict[int, tuple[int, int]]) -> list[str]:
    """Return the machines without exactly one lesson and one game for each match that ended since ``before``."""
    from django.db.models import Count, Q

    from games.models import MatchStatus
    from learning.models import LessonKind, Machine, MachineSeat, TrainingRun

    newly_trained = Q(finished_at__isnull=True) | ~Q(machine_id__in=before)
    trained = set(TrainingRun.objects.filter(newly_trained).values_list("machine_id", flat=True))
    is_finished = Q(seat__match__status=MatchStatus.FINISHED)
    ended = dict(MachineSeat.objects.filter(is_finished).values_list("machine_id").annotate(Count("pk")))
    n_taught = Count("lessons", filter=Q(lessons__kind=LessonKind.MATCH))
    differences = []
    for machine in Machine.objects.annotate(n_taught=n_taught).exclude(pk__in=trained):
        n_games, n_lessons = before.get(machine.pk, (0, 0))
        if machine.n_taught != ended.get(machine.pk, 0) or machine.n_games - n_games != machine.n_taught - n_lessons:
            differences.append(f"{machine.slug} has {machine.n_taught} lessons of {ended.get(machine.pk, 0)} matches")
        if machine.lessons.count() != machine.n_lessons:
            differences.append(
                f"{machine.slug} has {machine.lessons.count()} entries in its ledger, not {machine.n_lessons}"
            )
    return differences


def start_background_jobs(jobs: Sequence[str]) -> None:
    """Start jobs that keep the workers busy: a run of a billion games, a long tournament."""
    from django.contrib.auth import get_user_model

    from learning.models import Machine
    from learning.services.machines import machine_create
    from learning.services.runs import Stage, training_run_start
    from learning.services.tournaments import tournament_start

    house = Machine.objects.get(slug=HOUSE_MACHINE)
    if "training" in jobs:
        trainee = machine_create(game=house.game, side=house.side, name="In training", preset=house.preset)
        training_run_start(machine=trainee.slug, stages=[Stage("random", 1_000_000_000)], seed=1)
    if "tournament" in jobs:
        entrants = Machine.objects.filter(game=house.game, guest=None).exclude(side=None)
        owner = get_user_model().objects.create_user("bench", is_staff=True)
        tournament_start(user=owner, entries=[str(one.pk) for one in entrants[:N_ENTRANTS]], games=1_000_000)


# Reports


def case_of(site: Site, options: argparse.Namespace) -> Case:
    """Return the case for the options of the command line."""
    from learning.models import Machine

    return Case(
        port=site.port,
        host=site.host,
        n_matches=options.matches,
        body={"game": "noughts-and-crosses", **OPPONENTS[options.opponent]},
        think_s=options.think,
        seconds=options.seconds,
        as_program=options.programs,
        resign=options.resign,
        watched=Machine.objects.get(slug=HOUSE_MACHINE).pk,
        n_watchers=options.watchers,
    )


def report(result: Result) -> Iterator[str]:
    """Yield the lines of a case's report."""
    results, sample = result.found, result.sample
    median, slow, slowest = result.percentiles
    ideal = f" of {results['ideal']:.1f} possible with this thinking time" if results["ideal"] else ""
    yield f"moves/s            {result.rate:.1f}{ideal}; {result.n_moves} moves, {results['n_ended']} matches ended"
    yield f"milliseconds       median {median:.1f}, 95 % {slow:.1f}, 99 % {slowest:.1f}"
    for rate in results["rates"]:
        yield f"lessons/s          {rate:.0f} when all players resign at once"
    if sample.cpu_s:
        yield from _sample_lines(result)
    if result.statements:
        yield from _statement_lines(result)
    if results["frames"]:
        yield f"frames/s watching  {max(results['frames'])} at most, {max(results['watched_bytes'])} bytes in all"
    yield f"refusals, breaks   {results['errors'] or 'none'}"
    if results["refused_ms"]:
        yield f"refused within     {max(results['refused_ms']):.0f} ms at most"
    yield f"lost or doubled    {[*results['faults'], *result.differences][:10] or 'nothing'}"


def _sample_lines(result: Result) -> Iterator[str]:
    """Yield the costs per move of the processes and the database."""
    sample = result.sample
    per_move = ", ".join(f"{name} {1000 * result.per_move(s):.2f}" for name, s in sorted(sample.cpu_s.items()) if s)
    yield f"processor ms/move  {per_move}; of servers {result.server_cpu_ms:.2f}"
    in_ms = [1000 * mean / result.rate for mean in (sample.writing, sample.idle_writing, sample.waiting, sample.busy)]
    yield f"locks held         {in_ms[0]:.1f} ms/move, {in_ms[1]:.1f} of it idle; waited for {in_ms[2]:.1f} ms/move"
    yield f"in statements      {in_ms[3]:.1f} ms/move; {sample.most_connections} connections at most"
    yield f"transactions/move  {result.per_move(sample.n_transactions):.2f} ({sample.n_rolled_back} rolled back)"
    yield f"written ahead      {result.per_move(sample.wal_bytes) / 1000:.1f} kB/move; web {sample.web_mb:.0f} MB"


def _statement_lines(result: Result) -> Iterator[str]:
    """Yield the statements per move by kind, the slowest kinds first."""
    kinds = result.statements
    n_all, took = (sum(column) for column in zip(*kinds.values(), strict=True))
    own = sum(count for kind, (count, _) in kinds.items() if kind not in OF_TRANSACTIONS)
    yield f"statements/move    {result.per_move(own):.2f}; {result.per_move(took):.2f} ms in all statements"
    yield f"transaction control {result.per_move(n_all - own):.2f} more statements/move"
    for kind, (count, took) in sorted(kinds.items(), key=lambda one: -one[1][1])[:40]:
        if result.per_move(count) >= 0.01:
            yield f"    {result.per_move(count):6.2f} {result.per_move(took):7.3f} ms  {kind}"


def set_up_here(site: Site) -> None:
    """Set Django up in this process with the site's database."""
    set_up_with(BEADBOX_VAR=str(site.var))


def set_up_with(**settings: str) -> None:
    """Set Django up in this process with environment variables."""
    os.environ.update(settings, BEADBOX_LOCAL="1", DJANGO_SETTINGS_MODULE="menace_site.settings")
    import django

    django.setup()


def wait_for_workers() -> None:
    """Wait until the workers run and have finished a new site's first jobs."""
    from learning.models import ExperimentRun, Tournament, TrainingRun
    from menace_site.celery import app

    assert wait_until(lambda: len(app.control.ping(timeout=0.5)) == 2), "the workers do not answer"
    unfinished = ExperimentRun.objects.filter(finished_at=None)
    assert IS_SMALL or wait_until(lambda: not unfinished.exists()), "the workers do not finish"
    in_training = TrainingRun.objects.filter(finished_at=None)
    held = Tournament.objects.filter(owner=None)
    assert wait_until(lambda: held.exists() and not in_training.exists()), "the built-in machines are not trained"


@contextlib.contextmanager
def idle_site(**settings: str) -> Iterator[Site]:
    """Run an idle site without rate limits, and set Django up on it in this process."""
    with running_site(**NO_LIMITS_ENV, **settings) as site:
        set_up_here(site)
        wait_for_workers()
        yield site


def options_of(arguments: list[str]) -> argparse.Namespace:
    """Parse the options of a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.live_load", description=__doc__)
    parser.add_argument("--matches", type=int, default=sized(300, 10))
    parser.add_argument("--opponent", choices=OPPONENTS, default="menace")
    parser.add_argument("--think", type=float, default=sized(3.0, 0.5), help="mean thinking time in seconds")
    parser.add_argument("--seconds", type=float, default=sized(30.0, 3.0), help="duration of the measurement")
    parser.add_argument("--watchers", type=int, default=0, help="open pages of the built-in MENACE")
    parser.add_argument("--programs", action="store_true", help="players send a seat token and have no session")
    parser.add_argument(
        "--resign", action="store_true", help="all players repeatedly end their matches at the same moment"
    )
    parser.add_argument("--noise", default="", help=f"jobs of the workers meanwhile: {','.join(BACKGROUND_JOBS)}")
    parser.add_argument(
        "--kill", default="", help=f"processes that are killed twice meanwhile: {','.join(KILLABLE_GROUPS)}"
    )
    parser.add_argument("--statements", action="store_true", help="log every statement; the site is slower")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Play one case and print its report; return 1 if a move was lost or doubled."""
    options = options_of(arguments)
    with idle_site() as site:
        start_background_jobs(options.noise.split(","))
        result = _play_options(site, options)
    sys.stdout.write("".join(f"{line}\n" for line in report(result)))
    return int(not result.is_whole)


def _play_options(site: Site, options: argparse.Namespace) -> Result:
    kills = [group for group in options.kill.split(",") if group]
    meanwhile = partial(kill_in_turn, kills, options.seconds) if kills else None
    return play(site, case_of(site, options), log_statements=options.statements, meanwhile=meanwhile)


def live_few() -> Iterator[Figure]:
    """Measure a few figures of live play for ``make bench``: one match and many with the built-in MENACE."""
    with idle_site() as site:
        yield from _few_figures(site, "menace")


def _few_figures(site: Site, opponent: str) -> Iterator[Figure]:
    result = _play_with_options(site, matches=1, opponent=opponent, think=0.15)
    yield _figure(f"one match alone against {opponent}", result, "median <= 8 ms", result.percentiles[0] <= 8)
    result = _play_with_options(site, matches=N_MANY, opponent=opponent)
    yield _figure(f"{N_MANY} matches against {opponent}", result, "95 % < 30 ms", result.percentiles[1] < 30)


def live_load() -> Iterator[Figure]:
    """Measure every figure of live play. Client and site share two cores."""
    with idle_site() as site:
        yield _fresh_rooms()
        for opponent in sized(tuple(OPPONENTS), ("random",)):
            yield from () if IS_SMALL else _few_figures(site, opponent)
            result = _play_with_options(site, matches=N_SOME, opponent=opponent, think=0)
            yield _figure(
                f"{N_SOME} matches against {opponent} without thinking time",
                result,
                ">= 300 moves/s",
                result.rate >= 300,
            )
            result = _play_with_options(site, matches=N_ALL, opponent=opponent, watchers=3)
            is_good = result.rate >= 0.95 * result.found["ideal"] and result.percentiles[1] < 100
            yield _figure(
                f"{N_ALL:,} matches against {opponent}", result, "95 % of the possible moves/s, 95 % < 100 ms", is_good
            )
            yield from _costs(opponent, result)
        rates = _play_with_options(site, matches=N_ALL, resign=True).found["rates"]
        yield Figure("lessons of one machine", f"{spread(rates, '{:.0f}')} a second", ">= 600", max(rates) >= 600)
        start_background_jobs(BACKGROUND_JOBS)
        result = _play_with_options(site, matches=N_MANY)
        name = f"{N_MANY} matches during a run and a tournament"
        yield _figure(name, result, "95 % < 100 ms", result.percentiles[1] < 100)
        result = _play_with_options(site, matches=N_MANY, seconds=sized(90, 20), kill=",".join(KILLABLE_GROUPS))
        yield _figure("  with each kind of process killed twice", result, "nothing lost", result.is_whole)


def _play_with_options(site: Site, **changed: Any) -> Result:
    """Play a case with the options of the command line; ``changed`` has the options that differ from the defaults."""
    options = options_of([])
    vars(options).update(changed)
    result = _play_options(site, options)
    sys.stderr.write("".join(f"  {line}\n" for line in [str(changed), *report(result)]))
    return result


def _figure(name: str, result: Result, target: str, is_good: bool) -> Figure:
    median, slow, slowest = result.percentiles
    ideal = f" of {result.found['ideal']:.0f}" if result.found["ideal"] else ""
    text = f"{result.rate:.0f}{ideal} moves/s; {median:.1f}, {slow:.1f}, {slowest:.1f} ms"
    if not result.is_whole:
        text += f"; WRONG: {len(result.found['faults'])} faults of players, {len(result.differences)} of rows"
    return Figure(name, text, f"{target}, none lost", is_good and result.is_whole, is_fact=not result.is_whole)


def _costs(opponent: str, result: Result) -> Iterator[Figure]:
    """Yield the costs of a thousand matches for the servers and for watching pages."""
    cpu_ms, connections = result.server_cpu_ms, result.sample.most_connections
    yield Figure(f"  processor time of a move against {opponent}", f"{cpu_ms:.1f} ms", "<= 5 ms", cpu_ms <= 5)
    yield Figure("  connections to PostgreSQL", f"{connections} at most", "<= 20", connections <= 20)
    if opponent == "menace":
        frames = max(result.found["frames"])
        yield Figure("  frames to a page of the built-in MENACE", f"{frames} a second at most", "<= 4", 0 < frames <= 4)


def _fresh_rooms() -> Figure:
    """Measure the table space of machines in a thousand rooms with copies of MENACE, before the first move."""
    from django.db import connection

    from games.accounts.principal import Principal
    from games.live.rooms import room_create

    def megabytes() -> float:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname ~ '^learning_'"
            )
            return float(cursor.fetchone()[0]) / 1e6

    before = megabytes()
    for _ in range(N_ALL):
        room_create(
            person=Principal(token="x"), game="noughts-and-crosses", opponent="menace", side=Side.FIRST, fresh=True
        )
    added_mb = megabytes() - before
    return Figure(f"{N_ALL:,} fresh rooms", f"{added_mb:.1f} MB", "<= 2 MB", added_mb <= 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
