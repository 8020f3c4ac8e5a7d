"""A saved page is one short file that loads nothing else."""

import re

import pytest
from django.test import Client

from beadbox.learners.boxes.training_config import teachable_games

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("slug", teachable_games())
def test_the_file_loads_nothing_else(client: Client, slug: str) -> None:
    answer = client.get(f"/learn/save?game={slug}&teacher=perfect")
    assert answer["Content-Disposition"] == f'attachment; filename="beadbox-{slug}.html"'
    assert len(answer.content) <= 500_000
    text = answer.content.decode()
    assert re.findall(r'<(?:link|img|script|a|form)\b[^>]*\b(?:href|src)="[^"]*"', text) == []
    assert re.findall(r"url\((?!data:|#)[^)]*\)", text) == []
    assert text.rstrip().endswith("</html>")


def test_too_long_files_are_refused(client: Client) -> None:
    query = "game=hexapawn-4x4&reduce_symmetry=false&merge_symmetric_moves=false"
    answer = client.get(f"/learn/save?{query}", follow=True)
    assert "too many boards for a saved page" in answer.content.decode()
    assert client.get("/learn/save?reduce_symmetry=false&merge_symmetric_moves=false").status_code == 200
