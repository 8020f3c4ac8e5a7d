"""Database time of the staff's pages and of public pages at 100,000 machines, 10,000,000 boxes, 1,000,000 matches.

SQL statements fill the tables of a temporary database, without triggers. ``BENCH_ADMIN_SHARE=0.1`` fills a tenth of
the rows, for a machine with other work to do.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests.bench.figures import Figure
from tests.bench.stored import site
from tests.sizes import sized

SIZE_SHARE = float(os.environ.get("BENCH_ADMIN_SHARE", sized("1", "0.001")))
N_MACHINES, N_BOXES, N_MATCHES = int(100_000 * SIZE_SHARE), int(10_000_000 * SIZE_SHARE), int(1_000_000 * SIZE_SHARE)
MAX_MS, N_REQUESTS = 300, sized(5, 1)
FILL_SQL = [
    """INSERT INTO auth_user (username, password, email, first_name, last_name, is_active, is_staff, is_superuser,
        date_joined) SELECT 'filler ' || n, '!', '', '', '', true, false, false, now()
        FROM generate_series(1, %(machines)s / 50) AS n""",
    """INSERT INTO learning_machine (slug, name, description, game, side, preset, rule_json, owner_id, is_pupil,
        is_public, learns, n_values, n_lessons, n_games, n_wins, n_draws, n_losses, n_removed, created_at)
        SELECT 'filler-' || n, 'Filler ' || n, '', game, side, preset, rule_json,
            (SELECT min(id) FROM auth_user) + n %% (%(machines)s / 50), false, n %% 3 = 0, true, n %% 50, 10, 10, 5, 3,
            2, 0, now()
        FROM generate_series(1, %(machines)s) AS n,
            (SELECT * FROM learning_machine WHERE slug = 'menace-first') AS house""",
    """INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)
        SELECT (SELECT max(id) FROM learning_machine) - n %% %(machines)s, position, ply, move_number, start, beads,
            CASE WHEN n %% 1000 = 0 THEN visits ELSE array_fill(0::bigint, ARRAY[cardinality(beads)]) END
        FROM generate_series(1, %(boxes)s) AS n
        JOIN (SELECT row_number() OVER (ORDER BY id) AS number, learning_box.* FROM learning_box LIMIT 100) AS house
            ON number = 1 + n / %(machines)s""",
    """INSERT INTO games_room (code, game, opponent, machine, takes_over, first, second, fresh, host_token_sha256,
        opened_from, version, created_at, changed_at)
        SELECT translate(lpad(to_hex(n), 6, 'z'), '01', 'xy'), 'noughts-and-crosses', 'menace', '', '', '', '', false,
            '', md5((n %% 500)::text), 1, now(), now() - n * interval '1 second'
        FROM generate_series(1, %(matches)s / 5) AS n""",
    """INSERT INTO games_match (room_id, number, status, position, n_plies, seed, winner, termination, created_at,
        finished_at)
        SELECT (SELECT max(id) FROM games_room) - n %% (%(matches)s / 5), 1 + n / (%(matches)s / 5), 'finished',
            '.........', 5, n, 0, 'three_in_a_row', now(), now()
        FROM generate_series(0, %(matches)s - 1) AS n""",
    """INSERT INTO games_seat (match_id, side, player, takes_over, name, user_id, guest, token_sha256)
        SELECT id, 0, 'human', '', 'Guest', CASE WHEN id %% 5 = 0 THEN (SELECT max(id) FROM auth_user) - id %% 100 END,
            CASE WHEN id %% 5 <> 0 THEN md5((id %% 5000)::text)::uuid END, ''
        FROM games_match
        UNION ALL SELECT id, 1, 'menace', '', 'MENACE', NULL, NULL, '' FROM games_match""",
    """INSERT INTO learning_lesson (machine_id, number, kind, match_id, n_wins, n_draws, n_losses, created_at)
        SELECT (SELECT max(id) FROM learning_machine) - row_number() OVER () %% %(machines)s,
            row_number() OVER () / %(machines)s + 1, 'match', id, 1, 0, 0, now() FROM games_match""",
    """INSERT INTO learning_trainingrun (machine_id, status, knocked_at, n_games, seed, games_done, n_wins, n_draws,
        n_losses, random_state, n_left_out, n_measured, cancel_requested, error, started_by_id, created_at,
        finished_at)
        SELECT (SELECT max(id) FROM learning_machine) - n %% %(machines)s, 'finished', now(), 10, 1, 10, 10, 0, 0, '',
            0, 0, false, '', (SELECT max(id) FROM auth_user) - n %% 100, now() - n * interval '10 second', now()
        FROM generate_series(1, %(machines)s) AS n""",
    *(
        f"""INSERT INTO {table} (user_agent, ip_address, username, http_accept, path_info, attempt_time{more})
        SELECT 'a browser ' || n %% 100, '10.0.0.0'::inet + n %% 50000, 'filler ' || n, '', '/accounts/login/',
            now() - n * interval '1 second'{values} FROM generate_series(1, %(machines)s) AS n"""
        for table, more, values in [
            ("axes_accessattempt", ", get_data, post_data, failures_since_start", ", '', '', 1"),
            ("axes_accesslog", ", session_hash", ", ''"),
            ("axes_accessfailurelog", ", locked_out", ", n %% 100 = 0"),
        ]
    ),
    """INSERT INTO django_celery_beat_periodictask (name, task, args, kwargs, headers, one_off, enabled,
        total_run_count, date_changed, description, interval_id)
        SELECT 'schedule ' || n, 'learning.beat.schedule_fire', '[' || n || ']', '{}', '{}', false, n %% 50 <> 0, 1,
            now(), '', (SELECT min(id) FROM django_celery_beat_intervalschedule)
        FROM generate_series(1, %(machines)s / 100) AS n""",
]
"""Statements that fill the tables, with the numbers of machines, boxes and matches as parameters."""
LIST_PAGES = {
    "games/match/": ["", "?status__exact=playing", "?game=hexapawn", "?termination=resignation", "?q=zzzxxy", "?p=50"],
    "games/room/": ["", "?game=hexapawn", "?opponent=random", "?fresh__exact=1", "?q=zzzxxy"],
    "games/apitoken/": ["", "?q=filler"],
    "games/addressblock/": ["", "?q=10."],
    "auth/user/": ["", "?q=filler+12", "?is_staff__exact=1"],
    "learning/machine/": [
        *("", "?game=hexapawn", "?side__exact=0", "?preset=menace", "?learns__exact=0", "?is_public__exact=1"),
        *("?q=ller+99", "?q=filler-77", "?owner__id__exact={user}", "?p=50"),
    ],
    "learning/box/": [
        *("", "?visited=yes", "?visited=no", "?move_number=9", "?q=.........", "?p=100"),
        *("?machine__id__exact={machine}", "?machine__id__exact={machine}&visited=yes&move_number=2"),
    ],
    "learning/lesson/": ["", "?kind__exact=choice", "?machine__id__exact={machine}", "?p=100"],
    "learning/trainingrun/": ["", "?status__exact=running", "?machine__id__exact={machine}"],
    "learning/value/": ["", "?machine={machine}", "?machine={machine}&q=0-0"],
    "learning/weights/": ["", "?machine__id__exact={machine}"],
    "learning/snapshot/": ["", "?machine__id__exact={machine}"],
    "learning/schedule/": ["", "?machine__id__exact={machine}", "?task__enabled__exact=0"],
    "learning/tournament/": ["", "?status__exact=running", "?game=hexapawn"],
    "learning/experimentrun/": ["", "?experiment=gardner", "?status__exact=running"],
    "axes/accessattempt/": ["", "?q=filler"],
    "axes/accesslog/": ["", "?q=filler"],
    "axes/accessfailurelog/": ["", "?q=10.", "?locked_out__exact=1"],
    "django_celery_beat/periodictask/": ["", "?q=schedule", "?enabled__exact=0"],
    "usage/": ["", "?within=hour"],
    "queue/": [""],
    "admin/logentry/": ["", "?action_flag__exact=2", "?q=filler"],
    "autocomplete/": [
        "?app_label=learning&model_name=box&field_name=machine&term=ller+99",
        "?app_label=learning&model_name=machine&field_name=owner&term=ller+12",
    ],
}
"""Every list with its filters; ``{machine}`` and ``{user}`` stand for existing ids."""
PAGES = [
    *("/", "/play/noughts-and-crosses", "/rooms/{code}", "/learn", "/lab", "/account", "/account/tokens"),
    *("/machines", "/machines?game=hexapawn", "/machines?sort=-strength", "/machines?q=ller+99", "/machines?page=50"),
    *("/machines/{machine}", "/machines/{machine}/boxes", "/machines/{machine}/edit", "/machines/{machine}/train"),
    *("/runs/{run}", "/schedules", "/tournaments", "/tournaments/new", "/experiments"),
    *("/api/machines", "/api/machines/{machine}", "/api/machines/{machine}/progress", "/api/training-runs"),
    *("/api/rooms/{code}", "/api/tournaments", "/api/schedules", "/api/experiment-runs", "/api/machines?offset=2450"),
]
"""Addresses outside the admin. Each is requested by a visitor, a new account and the machine's owner."""


def lists() -> Iterator[Figure]:
    """Measure the database time of each list, filter and search: the minimum of five, since other load adds time."""
    site()
    from django.contrib.auth import get_user_model

    from games.models import Room
    from learning.models import Machine, TrainingRun

    seconds = _fill()
    rows = f"{N_MACHINES:,} machines, {N_BOXES:,} boxes, {N_MATCHES:,} matches"
    yield Figure(f"{rows} inserted", f"{seconds:.0f} s", "-", None)
    machine = Machine.objects.filter(owner__isnull=False).latest("pk")
    staff = get_user_model().objects.create_superuser("bench-admin")
    ids = {"machine": machine.pk, "user": machine.owner_id}
    for page, queries in LIST_PAGES.items():
        for query in queries:
            yield _page_time("admin", staff, f"/admin/{page}{query.format(**ids)}")
    ids |= {"code": Room.objects.latest("pk").code, "run": TrainingRun.objects.latest("pk").pk}
    new = get_user_model().objects.create_user("bench-new")
    for page in PAGES:
        for visitor, account in [("visitor", None), ("new account", new), ("owner", machine.owner)]:
            yield _page_time(visitor, account, page.format(**ids))


def _page_time(visitor: str, account: Any, address: str) -> Figure:
    """Return the database time of an address, requested by an account or by a visitor without one."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    browser = Client(headers={"host": "localhost"})
    if account is not None:
        browser.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    times_ms = []
    for _ in range(N_REQUESTS):
        with CaptureQueriesContext(connection) as queries:
            response = browser.get(address)
        assert response.status_code in (200, 302, 401, 403, 404), (address, response.status_code)
        times_ms.append(1000 * sum(float(query["time"]) for query in queries))
    min_ms = min(times_ms)
    return Figure(
        f"{visitor}: {address}", f"{min_ms:.0f} ms, {len(queries)} queries", f"< {MAX_MS} ms", min_ms < MAX_MS
    )


def _fill() -> float:
    """Fill the tables, and return the time taken in seconds."""
    from django.db import connection, transaction

    begin = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in FILL_SQL:
            sys.stderr.write(f"  {statement.split('(')[0].strip()}\n")
            cursor.execute(statement, {"machines": N_MACHINES, "boxes": N_BOXES, "matches": N_MATCHES})
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return time.perf_counter() - begin
