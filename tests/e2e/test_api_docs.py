"""The page of the API: its examples run unchanged against a live site, and its table has every code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from games.models import Match
from menace_site.api.docs import refusal_codes
from menace_site.api.schema import OPERATION_GROUPS
from tests.e2e.axe import violations
from tests.factories import house_machines
from tests.waiting import HANG_S

pytestmark = pytest.mark.e2e


def output_of(command: list[str]) -> str:
    """Run a program and return its output."""
    process = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_examples_run_unchanged(page: Page, tmp_path: Path) -> None:
    page.goto("/api/docs")
    first_example = page.locator("#first pre").inner_text()
    requests_program, socket_program = page.locator("#match pre").all_inner_texts()
    header, body, url = re.fullmatch(r'curl -H "(.+)" \\\n +-d \'(.+)\' \\\n +(\S+)\n?', first_example).groups()  # type: ignore[union-attr]
    request = urllib.request.Request(url, body.encode(), dict([header.split(": ")]))
    with urllib.request.urlopen(request, timeout=HANG_S) as response:  # our own site
        answer = json.load(response)
    assert len(answer["candidateMoves"]) == 7
    for number, text in enumerate((requests_program, socket_program)):
        program = tmp_path / f"match_{number}.py"
        program.write_text(text)
        assert len(text.splitlines()) == 20
        assert "'termination'" in output_of([sys.executable, str(program)])
        assert Match.objects.filter(status="finished").count() == number + 1
    house_machines()
    account_example = page.locator("#account pre").last.inner_text()
    body = json.loads(re.search(r"-d '(.+)'", account_example)[1])  # type: ignore[index]
    response = page.request.post("/api/rooms", data=body)
    assert response.ok, response.text()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", [{"width": 360, "height": 740}, {"width": 1280, "height": 800}], ids=["phone", "desk"])
def test_the_page_begins_with_the_essentials(page: Page, size: dict[str, int]) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]  # Playwright's own type
    page.goto("/api/docs")
    headings = page.locator("main h2").all_inner_texts()
    assert headings[:2] == ["A first request", "A whole match in twenty lines"]
    assert {"Limits", "Error codes", "Every operation"} <= set(headings)
    codes_on_page = page.locator("#codes tbody th").all_inner_texts()
    assert codes_on_page == [code for code, _, _ in refusal_codes()]
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    groups = page.locator("#swagger-ui .opblock-tag a span")
    expect(groups).to_have_text(list(OPERATION_GROUPS))
    page.evaluate("document.getElementById('swagger-ui').remove()")  # Swagger UI is another project's
    assert violations(page) == []
