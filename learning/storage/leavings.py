"""What the sweep takes away, as statements: each looks at so many rows after a place and is a transaction of its own.

What is about to be deleted is locked, what somebody else has locked is passed over (``SKIP LOCKED``), and PostgreSQL
asks the condition of the locked row once more: what has come to life meanwhile stays (docs/decisions/0097).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from games.quotas import guests_share
from learning.core.machines.registry import HOUSE_TOURNAMENT

Key = int | str
Looked = tuple[int, Key | None]
"""How many rows were looked at, and the key of the last; none are left where these are fewer than were asked for."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """One kind of thing that is left behind.

    ``step`` looks at so many rows after a key and takes away those that are to go; call it in a transaction. ``look``
    looks at the next one and leaves it alone.
    """

    name: str
    step: Callable[[Key, int, datetime], Looked]
    look: Callable[[Key], Looked]
    first: Key = 0


SEEN = """
    WITH seen AS MATERIALIZED (
        SELECT {key} AS key FROM {table} WHERE {key} > %(after)s ORDER BY {key} LIMIT %(most)s
    )"""
GONE = """
    gone AS MATERIALIZED (
        SELECT one.{key} AS key FROM {table} AS one JOIN seen ON seen.key = one.{key}
        WHERE {condition} FOR UPDATE OF one SKIP LOCKED
    )"""
SEEN_LOOKED = "SELECT (SELECT count(*) FROM seen), (SELECT key::text FROM seen ORDER BY key DESC LIMIT 1)"


def _walk(name: str, table: str, condition: str, *parts: str, key: str = "id", first: Key = 0, **ages: Any) -> Leaving:
    """What goes of a table where its condition holds.

    Args:
        name: what it is called in the log.
        table: where it stands.
        condition: of a row, ``one``.
        parts: statements, each with its name, about the keys in ``gone``; the rows themselves are deleted if left out.
        key: of the table.
        first: a key before all others.
        ages: moments in the condition, as days before now, or the name of the setting that has them.
    """
    parts = parts or (f"deleted AS (DELETE FROM {table} WHERE {key} IN (SELECT key FROM gone))",)  # noqa: S608
    seen = SEEN.format(table=table, key=key)
    statement = f"{', '.join([seen, GONE.format(table=table, key=key, condition=condition), *parts])} {SEEN_LOOKED}"

    def step(after: Key, most: int, now: datetime) -> Looked:
        days = {age: _days(days) if isinstance(days, str) else days for age, days in ages.items()}
        moments = {age: now - timedelta(days=n) for age, n in days.items()}
        return looked(statement, {"after": after, "most": most, "now": now, **WORDS, **_counts(), **moments}, first)

    def look(after: Key) -> Looked:
        return looked(f"{seen} {SEEN_LOOKED}", {"after": after, "most": 1}, first)

    return Leaving(name, step, look, first)


def _days(setting: str) -> float:
    """For how many days something is kept: what guests leave for a day at least, however full the site is."""
    days: int = getattr(settings, setting)
    return max(min(days, 1), days * guests_share()) if setting == "KEEP_GUEST_MATCHES_DAYS" else days


def looked(statement: str, values: dict[str, Any], first: Key = 0) -> Looked:
    """Run a statement that answers with how many rows it looked at and the key of the last as text."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        n_seen, last = cursor.fetchone()
    return n_seen, int(last) if isinstance(first, int) and last is not None else last


def _counts() -> dict[str, int]:
    """How many are kept, however young they are."""
    names = (
        "MATCHES_PER_GUEST", "MATCHES_PER_ACCOUNT", "RUNS_PER_MACHINE", "TOURNAMENTS_PER_ACCOUNT", "EXPERIMENTS_KEPT",
        "LOG_IN_FAILURES_KEPT",
    )  # fmt: skip
    return {name.lower(): getattr(settings, name) for name in names}


TOO_LONG = "It was stopped: no training goes on for longer than this site allows. What it learnt stays."
WORDS = {"house": HOUSE_TOURNAMENT.name, "too_long": TOO_LONG}


def _deletes(*tables_and_columns: tuple[str, str], of: str) -> str:
    """CTEs that delete the rows of these tables whose column is an id in ``of``."""
    return ", ".join(
        f"{table}_gone AS (DELETE FROM {table} WHERE {column} IN (SELECT key FROM {of}))"  # noqa: S608 - names of ours
        for table, column in tables_and_columns
    )


SEATS = "seats AS MATERIALIZED (SELECT id AS key FROM games_seat WHERE match_id IN (SELECT key FROM {matches}))"
OF_SEATS = [(f"learning_{table}", "seat_id") for table in ("draw", "thought", "decision", "machineseat")]


def _matches_gone(matches: str) -> str:
    """CTEs that delete the matches whose ids are there, with everything that belongs to them."""
    of_matches = [("games_seat", "match_id"), ("games_ply", "match_id"), ("games_match", "id")]
    return ", ".join(
        [SEATS.format(matches=matches), _deletes(*OF_SEATS, of="seats"), _deletes(*of_matches, of=matches)]
    )


UNTOLD = """NOT EXISTS (SELECT FROM learning_lesson lesson WHERE lesson.match_id = {match})
    AND NOT EXISTS (
        SELECT FROM games_seat seat JOIN learning_machineseat sits ON sits.seat_id = seat.id
            JOIN learning_machine machine ON machine.id = sits.machine_id
        WHERE seat.match_id = {match} AND machine.guest IS NOT NULL AND NOT machine.learns AND NOT EXISTS (
            SELECT FROM learning_machineseat later WHERE later.machine_id = machine.id AND later.seat_id > seat.id
        )
    )"""
"""No lesson tells of the match: a ledger lets go of it where it is folded up (docs/decisions/0096).

Of a guest's machine that learns nothing its last match alone says when it was played last.
"""
AGE = """{moment} < CASE WHEN {by_account} OR EXISTS (
        SELECT FROM games_seat seat WHERE seat.match_id = {match} AND seat.user_id IS NOT NULL
    ) THEN %(accounts)s ELSE %(guests)s END"""
"""Older than what is kept of guests, or of accounts where one sits there or hosts."""
HOSTED = "EXISTS (SELECT FROM games_room room WHERE room.id = one.room_id AND room.host_id IS NOT NULL)"
AGES = {"guests": "KEEP_GUEST_MATCHES_DAYS", "accounts": "KEEP_MATCHES_DAYS"}
LATER = "EXISTS (SELECT FROM games_match later WHERE later.room_id = one.room_id AND later.number > one.number)"
"""The last match of a room goes with the room alone, which is never without one."""
ONLY_MATCH = "(SELECT min(match.id) FROM games_match match WHERE match.room_id = one.id HAVING count(*) = 1)"
COPIED = "EXISTS (SELECT FROM learning_machine copy WHERE copy.room_id = one.id)"
ITS_MATCH = "matches AS MATERIALIZED (SELECT id AS key FROM games_match WHERE room_id IN (SELECT key FROM gone))"
ROOM_GONE = (ITS_MATCH, _matches_gone("matches"), _deletes(("games_room", "id"), of="gone"))

MATCHES = _walk(
    "old matches",
    "games_match",
    f"one.finished_at < %(guests)s AND {AGE.format(moment='one.finished_at', match='one.id', by_account=HOSTED)}"
    f" AND {LATER} AND {UNTOLD.format(match='one.id')}",
    _matches_gone("gone"),
    **AGES,
)
ROOMS = _walk(
    "old rooms",
    "games_room",
    "one.changed_at < %(guests)s"
    f" AND {AGE.format(moment='one.changed_at', match=ONLY_MATCH, by_account='one.host_id IS NOT NULL')}"
    f" AND NOT {COPIED} AND {ONLY_MATCH} IS NOT NULL AND {UNTOLD.format(match=ONLY_MATCH)}",
    *ROOM_GONE,
    **AGES,
)
WAITING = _walk(
    "rooms nobody came to",
    "games_room",
    f"one.changed_at < %(since)s AND NOT {COPIED} AND {UNTOLD.format(match=ONLY_MATCH)} AND EXISTS"
    f" (SELECT FROM games_match match WHERE match.id = {ONLY_MATCH} AND match.status = 'waiting' AND match.number = 1)",
    *ROOM_GONE,
    since=1,
)
ADDRESSES = _walk(
    "where rooms were opened from",
    "games_room",
    f"one.changed_at < %(since)s AND one.opened_from <> '' AND NOT {COPIED}",
    "cleared AS (UPDATE games_room SET opened_from = '' WHERE id IN (SELECT key FROM gone))",
    since=1,
)


SEATED = """
    WITH RECURSIVE people (key, number) AS (
        (SELECT {who}, 1 FROM games_seat WHERE {who} >= %(who)s AND ({who}, match_id) > (%(who)s, %(at)s)
            ORDER BY {who}, match_id LIMIT 1)
        UNION ALL
        SELECT later.key, number + 1 FROM people CROSS JOIN LATERAL (
            SELECT {who} AS key FROM games_seat WHERE {who} > people.key ORDER BY {who} LIMIT 1
        ) AS later WHERE number < %(most)s
    ), seen AS MATERIALIZED (
        SELECT people.key, seat.match_id FROM people CROSS JOIN LATERAL (
            SELECT match_id FROM games_seat WHERE {who} = people.key ORDER BY match_id DESC OFFSET %({kept})s LIMIT 1
        ) AS newest CROSS JOIN LATERAL (
            SELECT match_id FROM games_seat WHERE {who} = people.key AND match_id <= newest.match_id
                AND match_id > CASE WHEN people.key = %(who)s THEN %(at)s ELSE 0 END ORDER BY match_id LIMIT %(most)s
        ) AS seat ORDER BY people.key, seat.match_id LIMIT %(most)s
    )"""
"""The next people, and their matches beyond the bound, the oldest first. Their index has both ends."""
AT_LAST = 2**63 - 1
"""No match has a number beyond this: who stands here is done with."""
SEATED_LOOKED = """
    SELECT CASE WHEN cut.key IS NULL THEN (SELECT count(*) FROM people) ELSE %(most)s END,
        coalesce(cut.key, last.key)::text || ' ' || coalesce(cut.match_id, %(at_last)s)
    FROM (VALUES (1)) AS answer
        LEFT JOIN (SELECT key FROM people ORDER BY key DESC LIMIT 1) AS last ON true
        LEFT JOIN (SELECT key, match_id FROM seen ORDER BY key, match_id OFFSET %(most)s - 1) AS cut ON true"""
"""As many matches as were asked for are all that was looked at; else it was these people, and all that they have."""
SILENT_DAYS = 1
"""A match in which nobody has moved for so long may be taken for left, where somebody has too many."""
OVER_GONE = (
    f"""may AS MATERIALIZED (
        SELECT one.id AS key, one.room_id, one.finished_at IS NULL AS is_left FROM games_match one
        WHERE one.id IN (SELECT match_id FROM seen) AND (one.finished_at IS NOT NULL OR EXISTS (
            SELECT FROM games_room room WHERE room.id = one.room_id AND room.changed_at < %(silent)s
        )) AND {UNTOLD.format(match="one.id")} FOR UPDATE SKIP LOCKED
    ), emptied AS MATERIALIZED (
        SELECT one.id AS key, EXISTS (SELECT FROM may WHERE may.room_id = one.id AND may.is_left) AS is_left
        FROM games_room one WHERE one.id IN (SELECT room_id FROM may) AND NOT {COPIED}
        AND NOT EXISTS (
            SELECT FROM games_match other WHERE other.room_id = one.id AND other.id NOT IN (SELECT key FROM may)
        )
    ), rooms AS MATERIALIZED (
        SELECT one.id AS key FROM games_room one JOIN emptied ON emptied.key = one.id
        WHERE one.changed_at < %(silent)s OR NOT emptied.is_left FOR UPDATE OF one SKIP LOCKED
    ), gone AS MATERIALIZED (
        SELECT one.id AS key FROM games_match one JOIN may ON may.key = one.id
        WHERE one.room_id IN (SELECT key FROM rooms) OR {LATER}
    )""",  # noqa: S608 - names of ours
    _matches_gone("gone"),
    _deletes(("games_room", "id"), of="rooms"),
)
"""Those that are over, or in which nobody has moved for a day, go: the last of a room with the room alone, where
nothing else is in it, or all goes together."""


def _too_many(name: str, who: str, kept: str, first: Key) -> Leaving:
    """The matches of somebody beyond so many, the oldest first.

    Looks at people, by a column of their seats, and of one who has more at so many matches at a time, until none is
    left to look at. A key is somebody and the match that was looked at last.

    Args:
        name: what it is called in the log.
        who: the column.
        kept: which of :func:`_counts` says how many stay.
        first: somebody before all others.
    """
    seen = SEATED.format(who=who, kept=kept)
    statement = f"{', '.join([seen, *OVER_GONE])} {SEATED_LOOKED}"

    def values(after: Key, most: int) -> dict[str, Any]:
        somebody, at = str(after).split()
        return {"who": somebody, "at": int(at), "at_last": AT_LAST, "most": most, **_counts()}

    def step(after: Key, most: int, now: datetime) -> Looked:
        return looked(statement, values(after, most) | {"silent": now - timedelta(days=SILENT_DAYS)}, "")

    def look(after: Key) -> Looked:
        return looked(f"{seen} {SEATED_LOOKED}", values(after, 1), "")

    return Leaving(name, step, look, f"{first} {AT_LAST}")


NO_GUEST = "00000000-0000-0000-0000-000000000000"
OF_GUESTS = _too_many("matches of a guest beyond the bound", "guest", "matches_per_guest", NO_GUEST)
OF_ACCOUNTS = _too_many("matches of an account beyond the bound", "user_id", "matches_per_account", 0)
SESSIONS = _walk("sessions that have ended", "django_session", "one.expire_date < %(now)s", key="session_key", first="")
ATTEMPTS = _walk(
    "what log-ins are locked by",
    "axes_accessattempt",
    "one.attempt_time < %(since)s",
    _deletes(("axes_accessattemptexpiration", "access_attempt_id"), ("axes_accessattempt", "id"), of="gone"),
    since=1,
)
FAILURES = _walk(
    "log-ins that failed",
    "axes_accessfailurelog",
    """one.attempt_time < %(since)s
        OR one.id <= (SELECT max(id) FROM axes_accessfailurelog) - %(log_in_failures_kept)s""",
    since="KEEP_LOG_INS_DAYS",
)
LOG_INS = _walk("log-ins", "axes_accesslog", "one.attempt_time < %(since)s", since="KEEP_LOG_INS_DAYS")
BLOCKS = _walk("addresses that are blocked no more", "games_addressblock", "one.expires_at < %(since)s", since=1)
MOVED = _walk(
    "guests who have an account now",
    "learning_movedguest",
    "one.moved_at < %(since)s",
    key="guest",
    first=NO_GUEST,
    since=1,
)
TOKENS = _walk(
    "tokens that count no more",
    "games_apitoken",
    "least(one.revoked_at, one.expires_at) < %(since)s",
    since="KEEP_TOKENS_DAYS",
)
NEWEST_RESULT = """one.id = (SELECT newest.id FROM learning_experimentrun newest
    WHERE newest.experiment = one.experiment AND newest.status = 'finished'
    ORDER BY newest.finished_at DESC, newest.id DESC LIMIT 1)"""
RESULTS = _walk(
    "results nobody asks for",
    "learning_experimentrun",
    f"""one.finished_at IS NOT NULL AND NOT coalesce({NEWEST_RESULT}, false) AND (one.finished_at < %(since)s
        OR one.id <= (SELECT id FROM learning_experimentrun ORDER BY id DESC OFFSET %(experiments_kept)s LIMIT 1))""",  # noqa: S608
    _deletes(("learning_experimentpart", "run_id"), ("learning_experimentrun", "id"), of="gone"),
    since="KEEP_EXPERIMENTS_DAYS",
)
RUNS = _walk(
    "old training runs",
    "learning_trainingrun",
    """one.finished_at IS NOT NULL AND (one.finished_at < %(since)s OR one.id <= (
        SELECT other.id FROM learning_trainingrun other WHERE other.machine_id = one.machine_id
        ORDER BY other.id DESC OFFSET %(runs_per_machine)s LIMIT 1
    )) AND EXISTS (SELECT FROM learning_machine own WHERE own.id = one.machine_id AND own.owner_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM learning_lesson lesson WHERE lesson.run_id = one.id)
    AND NOT EXISTS (SELECT FROM learning_snapshot kept WHERE kept.run_id = one.id AND kept.plays_since IS NOT NULL)""",
    "taken AS MATERIALIZED (SELECT id AS key FROM learning_snapshot WHERE run_id IN (SELECT key FROM gone))",
    "last AS (UPDATE learning_schedule SET last_run_id = NULL WHERE last_run_id IN (SELECT key FROM gone))",
    _deletes(("learning_measurement", "snapshot_id"), ("learning_snapshot", "id"), of="taken"),
    _deletes(
        ("learning_curvepoint", "run_id"), ("learning_runstage", "run_id"), ("learning_trainingrun", "id"), of="gone"
    ),
    since="KEEP_MATCHES_DAYS",
)
ENDLESS_RUNS = _walk(
    "training runs that have no end",
    "learning_trainingrun",
    "one.finished_at IS NULL AND NOT one.cancel_requested AND one.created_at < %(since)s"
    " AND one.started_by_id IS NOT NULL",
    "stopped AS (UPDATE learning_trainingrun SET cancel_requested = true, error = %(too_long)s"
    " WHERE id IN (SELECT key FROM gone))",
    since="RUN_DAYS_MOST",
)
TOURNAMENTS = _walk(
    "old tournaments",
    "learning_tournament",
    # The house holds its own once, and looks whether it has.
    """one.finished_at IS NOT NULL AND (one.owner_id IS NOT NULL OR one.name <> %(house)s)
    AND (one.finished_at < %(since)s OR one.id <= (
        SELECT other.id FROM learning_tournament other WHERE other.owner_id = one.owner_id
        ORDER BY other.id DESC OFFSET %(tournaments_per_account)s LIMIT 1
    ))""",
    _deletes(
        ("learning_pairing", "tournament_id"),
        ("learning_tournamententry", "tournament_id"),
        ("learning_tournament", "id"),
        of="gone",
    ),
    since="KEEP_MATCHES_DAYS",
)
UNUSED = "NOT EXISTS (SELECT FROM django_celery_beat_periodictask task WHERE task.{column} = one.id)"
CRONTABS = _walk("times of no schedule", "django_celery_beat_crontabschedule", UNUSED.format(column="crontab_id"))
INTERVALS = _walk(
    "intervals of no schedule", "django_celery_beat_intervalschedule", UNUSED.format(column="interval_id")
)
