"""Files that pages offer for download: tables for spreadsheets, and the same data as JSON for programs."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse, JsonResponse

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of text that a spreadsheet would interpret as a formula."""
BYTE_ORDER_MARK = "\ufeff"
"""Mark that makes Excel read UTF-8; otherwise it assumes the local encoding and garbles umlauts."""


def csv_download(name: str, rows: Iterable[Iterable[object]]) -> HttpResponse:
    """Return the rows as a CSV file, in which no text can be interpreted as a formula."""
    response = HttpResponse(BYTE_ORDER_MARK, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(response).writerows(map(_plain, row) for row in rows)
    return response


def json_download(name: str, data: dict[str, object]) -> JsonResponse:
    """Return the data as a JSON file."""
    return JsonResponse(data, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def machine_file_download(name: str, text: str) -> HttpResponse:
    """Return a machine's file, which is JSON text, as a download."""
    return HttpResponse(text, "application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _plain(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
