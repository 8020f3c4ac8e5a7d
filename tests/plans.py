"""The rows that PostgreSQL reads for a statement, according to its plan."""

from collections.abc import Iterator
from typing import Any

from django.db import connection


def rows_read(statement: str, *tables: str) -> dict[str, int]:
    """Execute a statement, with values in it, and return the most rows that one step reads of each table."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        ((plan,),) = cursor.fetchone()
    read = dict.fromkeys(tables, 0)
    for step in _steps(plan["Plan"]):
        if (table := step.get("Relation Name")) in read:
            each = step["Actual Rows"] + sum(n for name, n in step.items() if name.startswith("Rows Removed by"))
            read[table] = max(read[table], round(each * step["Actual Loops"]))
    return read


def _steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _steps(part)
