"""The page for teachers is correct: figures of prints, retention times, and the command that starts a room."""

import re
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from pypdf import PdfReader

from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.built_in import HOUSE
from learning.models import Machine
from learning.services.machines import machine_create
from tests.factories import user
from tests.sentences import MAX_SENTENCE_WORDS

pytestmark = pytest.mark.django_db


def text_of(page: str) -> str:
    """Return the words of a page, with a line break between elements."""
    elements = r"</?(?:p|li|dt|dd|h\d|dl|ul|ol|option|summary|figcaption|article)[^>]*>|<a class=.button[^>]*>"
    main = re.sub(elements, "\n", page.partition("<main")[2])
    return unescape(re.sub(r"[ \t]+", " ", re.sub(r"<[^>]+>", "", main.partition("</main>")[0])))


@pytest.fixture
def page(client: Client) -> str:
    for one in HOUSE:
        if one.slug in ("her", "menace-first"):
            machine_create(game=one.game, side=one.side, name=one.name, preset=one.preset, slug=one.slug)
    return client.get("/about/teachers").content.decode()


def test_prints_are_as_large_as_the_page_says(client: Client, page: str) -> None:
    text = text_of(page)

    def print_figures(slug: str, boxes: str = "") -> tuple[str, int]:
        machine = Machine.objects.get(slug=slug)
        assert f'href="/machines/{machine.pk}/print"' in page
        query = f"?paper=A4&width=53&height=36&beads=start{boxes}"
        answer: Any = client.get(f"/machines/{machine.pk}/print{query}")
        reader = PdfReader(BytesIO(b"".join(answer.streaming_content)))
        return reader.pages[0].extract_text(), len(reader.pages) - 1

    her, n_sheets = print_figures("her")
    assert "19 matchboxes of 53 × 36 mm and 45 beads" in her
    assert "needs 19 matchboxes and 45 beads in four colours" in text
    assert n_sheets == 1
    gardner, n_sheets = print_figures("her", "&boxes=gardner")
    assert "24 matchboxes of 53 × 36 mm and 55 beads" in gardner
    assert "24 boxes that Martin Gardner drew in 1962. They need 55 beads." in text
    assert n_sheets == 1
    menace, n_sheets = print_figures("menace-first")
    assert "304 matchboxes of 53 × 36 mm and 1,720 beads" in menace
    assert "304 matchboxes and 1,720 beads in nine colours" in text
    assert f"The labels fill {n_sheets} sheets of A4." in text


def test_retention_times_equal_the_settings(client: Client, page: str, settings: Any) -> None:
    assert f"Matches of guests are stored for {settings.KEEP_GUEST_MATCHES_DAYS} days." in text_of(page)
    settings.KEEP_GUEST_MATCHES_DAYS, settings.KEEP_GUEST_MACHINES_DAYS = 3, 4
    settings.KEEP_MATCHES_DAYS, settings.KEEP_LOG_INS_DAYS = 5, 6
    text = text_of(client.get("/about/teachers").content.decode())
    assert (
        "Matches of guests are stored for 3 days. A pupil’s machine is stored for 4 days after its last game." in text
    )
    assert "Matches of accounts are stored for 5 days." in text
    assert "Log-ins with an account are stored for 6 days" in text


def test_the_command_equals_that_of_the_readme(page: str) -> None:
    readme = (Path(settings.BASE_DIR) / "README.md").read_text()
    assert "`BIND=0.0.0.0 make run` lets other computers in" in readme
    assert "<code>BIND=0.0.0.0 make run</code>" in page
    assert "Python 3.11, 3.12 or 3.13" in readme
    assert "Python 3.11, 3.12 or 3.13" in page


def test_about_and_lab_link_to_the_page(client: Client, page: str) -> None:
    for address in ("/about", "/lab"):
        assert 'href="/about/teachers"' in client.get(address).content.decode()
    assert 'href="/about#privacy"' in page


def test_a_site_without_machines_of_the_house_names_no_print(client: Client) -> None:
    page = client.get("/about/teachers").content.decode()
    assert "/print" not in page
    assert "19 matchboxes" in page


@pytest.mark.parametrize("address", ["/about", "/about/teachers", "/lab", "/tournaments/new"])
def test_sentences_are_short(client: Client, address: str) -> None:
    client.force_login(user("anna"))
    text = text_of(client.get(address).content.decode())
    sentences = [sentence for line in text.splitlines() for sentence in re.split(r"(?<=[.?:])\s+", line)]
    names = ("D. Michie", "Experiments on", "bₙ")  # titles and formulas may be long
    long_sentences = [
        one for one in sentences if len(one.split()) > MAX_SENTENCE_WORDS and not any(n in one for n in names)
    ]
    assert long_sentences == []


@pytest.mark.parametrize("slug", EXPERIMENTS)
def test_experiments_are_described_in_short_sentences(slug: str) -> None:
    experiment = EXPERIMENTS[slug]
    for text in (experiment.question, experiment.story, experiment.science):
        for sentence in re.split(r"(?<=[.?])\s+", " ".join(text.split())):
            assert len(sentence.split()) <= MAX_SENTENCE_WORDS, sentence
