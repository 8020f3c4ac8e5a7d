"""Live play by many at once: the site runs as with ``make run``, and all players in one process beside it.

``python -m tests.bench live-load`` prints every figure. One case by itself, with all its measurements:

    python -m tests.bench.live_load --matches 300 --opponent menace --think 3 --seconds 30 --watchers 5

Afterwards the database is compared with the frames that the players received. Every move must be stored once and in
order. Every ended match must be counted once in the machine's totals and ledger, and every bead must have its cause.
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
from dataclasses import asdict, dataclass
from functools import partial
from typing import IO, Any

from beadbox.rules.outcome import Side
from tests.bench.figures import Figure, spread
from tests.bench.live_client import Case
from tests.bench.live_site import OF_TRANSACTIONS, Sample, Site, Watch, kill_in_turn, running_site, statements
from tests.sizes import IS_SMALL, sized
from tests.waiting import wait_until

MANY = "100000000"
UNBOUNDED = {
    **dict.fromkeys(("THROTTLE_API", "THROTTLE_WRITE", "THROTTLE_LIVE", "THROTTLE_ROOM"), f"{MANY}/min"),
    "THROTTLE_MATCH": f"{MANY}/day",
    **dict.fromkeys(("OPEN_ROOMS_PER_GUEST", "OPEN_ROOMS_PER_ADDRESS", "SOCKETS_PER_ADDRESS"), MANY),
    **dict.fromkeys(("COPIES_PER_GUEST", "COPIES_PER_ADDRESS"), MANY),
}
"""Settings without rate limits and quotas: no site allows a thousand people behind one address."""
OPPONENTS: dict[str, dict[str, Any]] = {
    "menace": {"opponent": "menace", "side": "X"},
    "fresh": {"opponent": "menace", "side": "X", "fresh": True},
    "random": {"opponent": "random", "side": "X"},
}
HOUSE_MACHINE = "menace-second"
"""The opponent in rooms of "menace", where the players have X."""
NOISES = ("training", "tournament")
N_RIVALS = 8
KILLED = ("web", "postgres", "valkey", "workers")
SOME, MANY_PEOPLE, ALL = sized((100, 300, 1000), (3, 5, 8))
"""Numbers of simultaneous matches."""


@dataclass(frozen=True)
class Result:
    """The players' results, the sample of the servers, and the differences found in the database."""

    found: dict[str, Any]
    sample: Sample
    statements: dict[str, tuple[int, float]]
    wrong: list[str]

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
        return 1000 * self.each(sum(self.sample.cpu_s.get(name, 0.0) for name in ("web", "postgres", "valkey")))

    def each(self, amount: float) -> float:
        """Return a sampled amount per move. The sample begins a second after the players do."""
        return amount / self.sample.seconds / self.rate

    @property
    def is_whole(self) -> bool:
        """Whether all moves were stored once, by the players and by the database."""
        return not self.found["faults"] and not self.wrong


def play(
    site: Site, case: Case, *, log_statements: bool = False, meanwhile: Callable[[], None] | None = None
) -> Result:
    """Let all players play, then compare the frames they received with the stored rows.

    With ``meanwhile`` nothing is sampled, and the players go on until that call returns.
    """
    from django.db import connection

    before = totals()
    if meanwhile is not None:
        found = played(case, meanwhile)
        connection.close()  # opened before a server died
        return Result(found, Sample(case.seconds), {}, wrong_rows(found["rooms"], before))
    watch, text = Watch(site), ""
    if log_statements:
        site.log_statements(True)
    with _playing(case) as (_, said):
        watch.begin()
        logged_from = site.log.stat().st_size
        assert said.readline() == "end\n"
        if log_statements:
            with site.log.open() as log:
                log.seek(logged_from)
                text = log.read()
        sample = watch.end()
        found = json.load(said)
    if log_statements:
        site.log_statements(False)
    watch.close()
    return Result(found, sample, statements(text), wrong_rows(found["rooms"], before))


def played(case: Case, meanwhile: Callable[[], None]) -> dict[str, Any]:
    """Let all players play until ``meanwhile`` returns, and return their results."""
    with _playing(case) as (client, said):
        meanwhile()  # in this thread: processes that it starts would die with their thread
        client.terminate()
        assert said.readline() == "end\n"
        found: dict[str, Any] = json.load(said)
    assert found["seconds"] < case.seconds, f"nobody played any more after {case.seconds} s, and it was not over"
    return found


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
    mine = Ply.objects.filter(match__room__code__in=rooms, match__seats__token_sha256__gt="")
    rows = mine.extra(where=["games_seat.side = games_ply.side"]).order_by("match_id", "number")
    for code, number, move in rows.values_list("match__room__code", "match__number", "move"):
        moves.setdefault((code, number), []).append(move)
    stored = Room.objects.filter(code__in=rooms).values_list("code", "matches__number", "matches__status")
    ended = {(code, number) for code, number, status in stored if status == MatchStatus.FINISHED}
    wrong = []
    for code, (finished, answered) in rooms.items():
        for number, own in answered.items():
            if own != moves.pop((code, int(number)), []):
                wrong.append(f"{code}.{number}: the moves are not those that were answered")
        if {(code, number) for number in finished} != {one for one in ended if one[0] == code}:
            wrong.append(f"{code}: other matches have ended than was told")
    wrong += [f"{code}.{number}: moves of a match that nobody was told of" for code, number in moves]
    try:
        call_command("audit", stdout=io.StringIO())
    except CommandError as error:
        wrong.append(str(error))
    return wrong + _miscounted(before)


def totals() -> dict[int, tuple[int, int]]:
    """Return each machine's number of games, and of lessons from matches, by its id."""
    from django.db.models import Count, Q

    from learning.models import LessonKind, Machine

    of_matches = Count("lessons", filter=Q(lessons__kind=LessonKind.MATCH))
    rows = Machine.objects.annotate(of_matches=of_matches).values_list("pk", "n_games", "of_matches")
    return {pk: (n_games, n_lessons) for pk, n_games, n_lessons in rows}


def _miscounted(before: dict[int, tuple[int, int]]) -> list[str]:
    """Return the machines without exactly one lesson and one game for each match that ended since ``before``."""
    from django.db.models import Count, Q

    from games.models import MatchStatus
    from learning.models import LessonKind, Machine, MachineSeat, TrainingRun

    newly_trained = Q(finished_at__isnull=True) | ~Q(machine_id__in=before)
    trained = set(TrainingRun.objects.filter(newly_trained).values_list("machine_id", flat=True))
    over = Q(seat__match__status=MatchStatus.FINISHED)
    ended = dict(MachineSeat.objects.filter(over).values_list("machine_id").annotate(Count("pk")))
    taught = Count("lessons", filter=Q(lessons__kind=LessonKind.MATCH))
    wrong = []
    for machine in Machine.objects.annotate(taught=taught).exclude(pk__in=trained):
        n_games, n_lessons = before.get(machine.pk, (0, 0))
        if machine.taught != ended.get(machine.pk, 0) or machine.n_games - n_games != machine.taught - n_lessons:
            wrong.append(f"{machine.slug} has {machine.taught} lessons of {ended.get(machine.pk, 0)} matches")
        if machine.lessons.count() != machine.n_lessons:
            wrong.append(f"{machine.slug} has {machine.lessons.count()} entries in its ledger, not {machine.n_lessons}")
    return wrong


def make_noise(noises: Sequence[str]) -> None:
    """Start jobs that keep the workers busy: a run of a billion games, a long tournament."""
    from django.contrib.auth import get_user_model

    from learning.models import Machine
    from learning.services.machines import machine_create
    from learning.services.runs import Stage, training_run_start
    from learning.services.tournaments import tournament_start

    house = Machine.objects.get(slug=HOUSE_MACHINE)
    if "training" in noises:
        trainee = machine_create(game=house.game, side=house.side, name="In training", preset=house.preset)
        training_run_start(machine=trainee.slug, stages=[Stage("random", 1_000_000_000)], seed=1)
    if "tournament" in noises:
        rivals = Machine.objects.filter(game=house.game, guest=None).exclude(side=None)
        owner = get_user_model().objects.create_user("bench", is_staff=True)
        tournament_start(user=owner, entries=[str(one.pk) for one in rivals[:N_RIVALS]], games=1_000_000)


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
    found, sample = result.found, result.sample
    median, slow, slowest = result.percentiles
    ideal = f" of {found['ideal']:.1f} that the thinking allows" if found["ideal"] else ""
    yield f"moves/s            {result.rate:.1f}{ideal}; {result.n_moves} moves, {found['n_ended']} matches ended"
    yield f"milliseconds       median {median:.1f}, 95 % {slow:.1f}, 99 % {slowest:.1f}"
    for rate in found["rates"]:
        yield f"lessons/s          {rate:.0f} where all resign at once"
    if sample.cpu_s:
        yield from _sample_lines(result)
    if result.statements:
        yield from _statement_lines(result)
    if found["frames"]:
        yield f"frames/s watching  {max(found['frames'])} at most, {max(found['watched_bytes'])} bytes in all"
    yield f"refusals, breaks   {found['errors'] or 'none'}"
    if found["refused_ms"]:
        yield f"refused within     {max(found['refused_ms']):.0f} ms at most"
    yield f"lost or doubled    {[*found['faults'], *result.wrong][:10] or 'nothing'}"


def _sample_lines(result: Result) -> Iterator[str]:
    """Yield the costs per move of the processes and the database."""
    sample = result.sample
    each = ", ".join(f"{name} {1000 * result.each(s):.2f}" for name, s in sorted(sample.cpu_s.items()) if s)
    yield f"processor ms/move  {each}; of servers {result.server_cpu_ms:.2f}"
    in_ms = [1000 * mean / result.rate for mean in (sample.writing, sample.idle_writing, sample.waiting, sample.busy)]
    yield f"locks held         {in_ms[0]:.1f} ms/move, {in_ms[1]:.1f} of it idle; waited for {in_ms[2]:.1f} ms/move"
    yield f"in statements      {in_ms[3]:.1f} ms/move; {sample.most_connections} connections at most"
    yield f"transactions/move  {result.each(sample.n_transactions):.2f} ({sample.n_rolled_back} rolled back)"
    yield f"written ahead      {result.each(sample.wal_bytes) / 1000:.1f} kB/move; web {sample.web_mb:.0f} MB"


def _statement_lines(result: Result) -> Iterator[str]:
    """Yield the statements per move by kind, the slowest kinds first."""
    kinds = result.statements
    n_all, took = (sum(column) for column in zip(*kinds.values(), strict=True))
    own = sum(count for kind, (count, _) in kinds.items() if kind not in OF_TRANSACTIONS)
    yield f"statements/move    {result.each(own):.2f}, and {result.each(n_all - own):.2f} that begin or end something;"
    yield f"                   {result.each(took):.2f} ms in them"
    for kind, (count, took) in sorted(kinds.items(), key=lambda one: -one[1][1])[:40]:
        if result.each(count) >= 0.01:
            yield f"    {result.each(count):6.2f} {result.each(took):7.3f} ms  {kind}"


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
    assert IS_SMALL or wait_until(lambda: not unfinished.exists()), "the workers do not end"
    in_training = TrainingRun.objects.filter(finished_at=None)
    held = Tournament.objects.filter(owner=None)
    assert wait_until(lambda: held.exists() and not in_training.exists()), "the house is not trained"


@contextlib.contextmanager
def idle_site(**settings: str) -> Iterator[Site]:
    """Run an idle site without rate limits, and set Django up on it in this process."""
    with running_site(**UNBOUNDED, **settings) as site:
        set_up_here(site)
        wait_for_workers()
        yield site


def options_of(words: list[str]) -> argparse.Namespace:
    """Parse the options of a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.live_load", description=__doc__)
    parser.add_argument("--matches", type=int, default=sized(300, 10))
    parser.add_argument("--opponent", choices=OPPONENTS, default="menace")
    parser.add_argument("--think", type=float, default=sized(3.0, 0.5), help="seconds, on average")
    parser.add_argument("--seconds", type=float, default=sized(30.0, 3.0), help="how long is measured")
    parser.add_argument("--watchers", type=int, default=0, help="pages open on the house's MENACE")
    parser.add_argument("--programs", action="store_true", help="players show their seat's token, and have no session")
    parser.add_argument("--resign", action="store_true", help="all end their match at the same moment, again and again")
    parser.add_argument("--noise", default="", help=f"what the workers do meanwhile: {','.join(NOISES)}")
    parser.add_argument("--kill", default="", help=f"what is killed meanwhile, twice: {','.join(KILLED)}")
    parser.add_argument("--statements", action="store_true", help="log every statement, which slows everything down")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Play one case and print its report; return 1 if a move was lost or doubled."""
    options = options_of(words)
    with idle_site() as site:
        make_noise(options.noise.split(","))
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
        yield from _few(site, "menace")


def _few(site: Site, opponent: str) -> Iterator[Figure]:
    result = _played(site, matches=1, opponent=opponent, think=0.15)
    yield _figure(f"one match alone against {opponent}", result, "median <= 8 ms", result.percentiles[0] <= 8)
    result = _played(site, matches=MANY_PEOPLE, opponent=opponent)
    yield _figure(f"{MANY_PEOPLE} matches against {opponent}", result, "95 % < 30 ms", result.percentiles[1] < 30)


def live_load() -> Iterator[Figure]:
    """Measure every figure of live play, on two cores with the client beside it."""
    with idle_site() as site:
        yield _fresh_rooms()
        for opponent in sized(tuple(OPPONENTS), ("random",)):
            yield from () if IS_SMALL else _few(site, opponent)
            result = _played(site, matches=SOME, opponent=opponent, think=0)
            yield _figure(f"{SOME} against {opponent} who do not think", result, ">= 300 moves/s", result.rate >= 300)
            result = _played(site, matches=ALL, opponent=opponent, watchers=3)
            is_good = result.rate >= 0.95 * result.found["ideal"] and result.percentiles[1] < 100
            yield _figure(
                f"{ALL:,} matches against {opponent}", result, "95 % of the thinking's, 95 % < 100 ms", is_good
            )
            yield from _costs(opponent, result)
        rates = _played(site, matches=ALL, resign=True).found["rates"]
        yield Figure("lessons of one machine", f"{spread(rates, '{:.0f}')} a second", ">= 600", max(rates) >= 600)
        make_noise(NOISES)
        result = _played(site, matches=MANY_PEOPLE)
        name = f"{MANY_PEOPLE} matches beside a run and a tournament"
        yield _figure(name, result, "95 % < 100 ms", result.percentiles[1] < 100)
        result = _played(site, matches=MANY_PEOPLE, seconds=sized(90, 20), kill=",".join(KILLED))
        yield _figure("  and every kind of process killed, twice", result, "all go on", result.is_whole)


def _played(site: Site, **words: Any) -> Result:
    """Play a case as from the command line, given by the options that differ."""
    options = options_of([])
    vars(options).update(words)
    result = _play_options(site, options)
    sys.stderr.write("".join(f"  {line}\n" for line in [str(words), *report(result)]))
    return result


def _figure(name: str, result: Result, target: str, is_good: bool) -> Figure:
    median, slow, slowest = result.percentiles
    ideal = f" of {result.found['ideal']:.0f}" if result.found["ideal"] else ""
    measured = f"{result.rate:.0f}{ideal} moves/s; {median:.1f}, {slow:.1f}, {slowest:.1f} ms"
    if not result.is_whole:
        measured += f"; WRONG: {len(result.found['faults'])} by the players, {len(result.wrong)} by the database"
    return Figure(name, measured, f"{target}, none lost", is_good and result.is_whole, is_fact=not result.is_whole)


def _costs(opponent: str, result: Result) -> Iterator[Figure]:
    """Yield the costs of a thousand matches for the servers and for watching pages."""
    cpu_ms, connections = result.server_cpu_ms, result.sample.most_connections
    yield Figure(f"  processor time of a move against {opponent}", f"{cpu_ms:.1f} ms", "<= 5 ms", cpu_ms <= 5)
    yield Figure("  connections to PostgreSQL", f"{connections} at most", "<= 20", connections <= 20)
    if opponent == "menace":
        frames = max(result.found["frames"])
        yield Figure("  frames to a page of the house's MENACE", f"{frames} a second at most", "<= 4", 0 < frames <= 4)


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
    for _ in range(ALL):
        room_create(
            person=Principal(token="x"), game="noughts-and-crosses", opponent="menace", side=Side.FIRST, fresh=True
        )
    grown = megabytes() - before
    return Figure(f"{ALL:,} fresh rooms", f"{grown:.1f} MB", "<= 2 MB", grown <= 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
