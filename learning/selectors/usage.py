"""The heaviest users, for the staff: the machines, trainings and matches of accounts, guests and addresses.

Each function runs one statement of limited cost: the counts are columns of machines, and only the latest
:data:`MAX_ROOMS_READ` rooms are read. Each returns at most :data:`MAX_ROWS_SHOWN` rows, as dictionaries by column.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection

MAX_ROWS_SHOWN = 20
MAX_ROOMS_READ = 1_000
RECENT_ROOMS_SQL = f"""
    WITH recent AS (
        SELECT id, opened_from FROM games_room WHERE changed_at >= %s ORDER BY changed_at DESC LIMIT {MAX_ROOMS_READ}
    )"""  # noqa: S608 - numbers of ours
PLAYERS_SQL = f"""{RECENT_ROOMS_SQL}
    SELECT user_id, guest, count(DISTINCT room_id) AS rooms, count(*) AS matches,
        count(*) FILTER (WHERE games_match.status <> 'finished') AS open, max(opened_from) AS address
    FROM recent
    JOIN games_match ON room_id = recent.id
    JOIN games_seat ON match_id = games_match.id
    WHERE user_id IS NOT NULL OR guest IS NOT NULL
    GROUP BY user_id, guest ORDER BY matches DESC LIMIT {MAX_ROWS_SHOWN}"""  # noqa: S608
# At most one match of a room is unfinished.
ADDRESSES_SQL = f"""{RECENT_ROOMS_SQL}
    SELECT opened_from AS address, count(*) AS rooms, count(room_id) AS open
    FROM recent LEFT JOIN games_match ON room_id = recent.id AND status <> 'finished'
    WHERE opened_from <> ''
    GROUP BY opened_from ORDER BY rooms DESC LIMIT {MAX_ROWS_SHOWN}"""  # noqa: S608
OWNERS_SQL = f"""
    SELECT owner_id AS user_id, guest, count(*) AS machines, sum(n_values) AS n_values, sum(n_lessons) AS n_lessons,
        sum(n_values + n_lessons) AS rows
    FROM learning_machine WHERE owner_id IS NOT NULL OR guest IS NOT NULL
    GROUP BY owner_id, guest ORDER BY rows DESC LIMIT {MAX_ROWS_SHOWN}"""  # noqa: S608
TRAINERS_SQL = f"""
    SELECT started_by_id AS user_id, count(*) AS runs, count(*) FILTER (WHERE finished_at IS NULL) AS open,
        sum(games_done) AS games
    FROM learning_trainingrun WHERE created_at >= %s AND started_by_id IS NOT NULL
    GROUP BY started_by_id ORDER BY games DESC, runs DESC LIMIT {MAX_ROWS_SHOWN}"""  # noqa: S608


def heaviest_by_storage() -> list[dict[str, object]]:
    """Return the accounts and guests with the most stored contents: numbers of machines, values and lessons.

    ``rows`` is the sum of values and lessons, the contents that grow.
    """
    return _rows(OWNERS_SQL)


def heaviest_by_training(since: datetime) -> list[dict[str, object]]:
    """Return the accounts with the most training games in runs created since this moment; ``open``: unfinished runs."""
    return _rows(TRAINERS_SQL, since)


def heaviest_by_matches(since: datetime) -> list[dict[str, object]]:
    """Return the accounts and guests with the most matches in rooms changed since this moment.

    ``address`` is the hash of an address from which such a room was opened.
    """
    return _rows(PLAYERS_SQL, since)


def heaviest_by_rooms(since: datetime) -> list[dict[str, object]]:
    """Return the hashes of the addresses that opened most rooms, among rooms changed since this moment."""
    return _rows(ADDRESSES_SQL, since)


def _rows(statement: str, *values: Any) -> list[dict[str, Any]]:
    """Return the rows of a statement as dictionaries by column, each with the ``username`` of its ``user_id``."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        names = [column.name for column in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    ids = {row["user_id"] for row in rows if row.get("user_id") is not None}
    accounts = dict(get_user_model().objects.filter(pk__in=ids).values_list("pk", "username"))
    return [{**row, "username": accounts.get(row.get("user_id") or 0, "")} for row in rows]
