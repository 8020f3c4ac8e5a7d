"""What people download from pages: tables for spreadsheets, and the same as JSON for programs."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse, JsonResponse

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet takes for a formula."""
BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel takes UTF-8 for the encoding of its own country, and shows umlauts as other characters."""


def csv_download(name: str, rows: Iterable[Iterable[object]]) -> HttpResponse:
    """The rows as a file; a spreadsheet takes no text in it for a formula."""
    response = HttpResponse(BYTE_ORDER_MARK, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(map(_plain, row) for row in rows)
    return response


def json_download(name: str, data: dict[str, object]) -> JsonResponse:
    """The data as a file, in the shape that the API answers with."""
    return JsonResponse(data, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _plain(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
