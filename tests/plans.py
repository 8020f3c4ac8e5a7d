"""Counts the rows that PostgreSQL reads for a statement, according to its plan."""

from collections.abc import Iterator
from typing import Any

from django.db import connection


def rows_read(statement: str, *tables: str) -> dict[str, int]:
    """Execute a statement without parameters; return for each table the most rows that a step of the plan reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        ((plan,),) = cursor.fetchone()
    n_rows = dict.fromkeys(tables, 0)
    for step in _steps(plan["Plan"]):
        if (table := step.get("Relation Name")) in n_rows:
            per_loop = step["Actual Rows"] + sum(n for name, n in step.items() if name.startswith("Rows Removed by"))
            n_rows[table] = max(n_rows[table], round(per_loop * step["Actual Loops"]))
    return n_rows


def _steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _steps(part)
