"""The reported size of the site depends on its rows, even if files have not shrunk."""

import math
import random
from typing import Any

import pytest
from django.db import connection

from games.exceptions import SiteFullError
from games.limits.quotas import LIMIT_SETTINGS, SITE_COUNTS_SQL, site_counts
from games.models import Match
from learning.models import Box, ExperimentRun
from tests.factories import guest, machine, room

pytestmark = pytest.mark.django_db(transaction=True)

N_BOXES, N_RESULTS = 20_000, 1_000
TABLE_NAMES = [Box._meta.db_table, ExperimentRun._meta.db_table]


def execute(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def reported_bytes() -> int:
    return int(dict(execute(SITE_COUNTS_SQL, list(LIMIT_SETTINGS)))["bytes"])


def bytes_of_files() -> int:
    return sum(execute("SELECT pg_total_relation_size(%s::regclass)", table)[0][0] for table in TABLE_NAMES)


def vacuum(*options: str) -> None:
    """Vacuum and analyse the tables, as autovacuum does."""
    for table in TABLE_NAMES:
        execute(f"VACUUM ({', '.join(['ANALYZE', *options])}) {table}")


@pytest.fixture
def bytes_without_rows() -> int:
    """Store boxes with arrays and results with TOASTed JSON; return the reported size without these rows."""
    vacuum("FULL")
    execute("VACUUM (ANALYZE)")  # other tables too, so that rows left by earlier tests do not distort the size
    before, learner, rng = reported_bytes(), machine(), random.Random(1)
    execute(
        "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)"
        " SELECT %s, md5(n::text), 1, 1, array_fill(4, ARRAY[9]), array_fill(3, ARRAY[9]), array_fill(7, ARRAY[9])"
        " FROM generate_series(1, %s) AS n",
        learner.pk,
        N_BOXES,
    )
    ExperimentRun.objects.bulk_create(
        ExperimentRun(
            experiment="e",
            edition=1,
            seed=n,
            parameters={},
            status="finished",
            result=[rng.random() for _ in range(500)],
        )
        for n in range(N_RESULTS)
    )
    vacuum()
    return before


def test_the_counted_size_falls_with_deletion_unlike_files(bytes_without_rows: int) -> None:
    reported_before, files_before = reported_bytes() - bytes_without_rows, bytes_of_files()
    assert reported_before == pytest.approx(files_before, rel=0.3)
    Box.objects.filter(pk__in=Box.objects.filter(position__lt="d").values("pk")).delete()
    ExperimentRun.objects.exclude(seed__in=range(0, N_RESULTS, 10)).delete()
    vacuum()
    reported_after = reported_bytes() - bytes_without_rows
    assert bytes_of_files() > files_before * 0.9, "the files have not shrunk"
    vacuum("FULL")
    assert reported_after == pytest.approx(bytes_of_files(), rel=0.3)
    assert reported_after < reported_before / 2


def test_a_full_site_opens_again_after_deletion(
    bytes_without_rows: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATABASE_BYTES_MOST = (bytes_without_rows + reported_bytes()) // 2

    def reset_count() -> None:
        monkeypatch.setattr(site_counts, "recount_at", -math.inf)

    reset_count()
    with pytest.raises(SiteFullError):
        room(person=guest())
    Box.objects.all().delete()
    ExperimentRun.objects.all().delete()
    vacuum()
    reset_count()
    room(person=guest())
    assert Match.objects.count() == 1
