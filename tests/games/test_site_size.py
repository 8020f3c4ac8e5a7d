"""The reported size of the site follows its rows, not the size of files that have not shrunk."""

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
TABLES = [Box._meta.db_table, ExperimentRun._meta.db_table]


def query(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def counted_bytes() -> int:
    return int(dict(query(SITE_COUNTS_SQL, list(LIMIT_SETTINGS)))["bytes"])


def file_bytes() -> int:
    return sum(query("SELECT pg_total_relation_size(%s::regclass)", table)[0][0] for table in TABLES)


def vacuum(*how: str) -> None:
    """Vacuum and analyse the tables, as autovacuum does."""
    for table in TABLES:
        query(f"VACUUM ({', '.join(['ANALYZE', *how])}) {table}")


@pytest.fixture
def stored_rows() -> int:
    """Store boxes with arrays and results with TOASTed JSON; return the reported size before."""
    vacuum("FULL")
    query("VACUUM (ANALYZE)")  # other tables too, so that rows left by earlier tests do not distort the size
    before, learner, rng = counted_bytes(), machine(), random.Random(1)
    query(
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


def test_the_counted_size_falls_with_deletion_unlike_files(stored_rows: int) -> None:
    full, on_disk = counted_bytes() - stored_rows, file_bytes()
    assert full == pytest.approx(on_disk, rel=0.3)
    Box.objects.filter(pk__in=Box.objects.filter(position__lt="d").values("pk")).delete()
    ExperimentRun.objects.exclude(seed__in=range(0, N_RESULTS, 10)).delete()
    vacuum()
    bytes_before = counted_bytes() - stored_rows
    assert file_bytes() > on_disk * 0.9, "the files have not shrunk"
    vacuum("FULL")
    assert bytes_before == pytest.approx(file_bytes(), rel=0.3)
    assert bytes_before < full / 2


def test_a_full_site_opens_again_after_deletion(
    stored_rows: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATABASE_BYTES_MOST = (stored_rows + counted_bytes()) // 2

    def measure_again() -> None:
        monkeypatch.setattr(site_counts, "recount_at", -math.inf)

    measure_again()
    with pytest.raises(SiteFullError):
        room(person=guest())
    Box.objects.all().delete()
    ExperimentRun.objects.all().delete()
    vacuum()
    measure_again()
    room(person=guest())
    assert Match.objects.count() == 1
