"""The learning page: parameters of its address, and the machine kept from it."""

from html import unescape
from typing import Any

import pytest
from django.test import Client

from learning.models import Machine
from tests.factories import user
from tests.pages import page_json

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/learn", "/learn/hexapawn"])
def test_any_query_has_a_page(path: str) -> None:
    answer = Client().get(path, {"win": ["3", "4"], "seed": "9" * 500, "games": "-1", "game": "hexapawn", "<b>": "1"})
    reading = page_json(answer, "reading")
    assert answer.status_code == 200
    assert {problem["field"] for problem in reading["problems"]} >= {"win", "seed", "games"}
    assert reading["game"] == "hexapawn"
    assert b"<b>" not in answer.content.split(b'id="reading"')[1].split(b"</script>")[0]


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        ("romgon", "so this page cannot show how a machine learns it."),
        ("hexapawn-5x4", "Hexapawn 5 × 4 has too many positions, so this page"),
        ("hexapwn", "hexapawn"),
        ("x%00", "This drawer is empty"),
    ],
)
def test_game_that_is_not_taught_has_no_page(slug: str, reason: str) -> None:
    answer = Client().get(f"/learn/{slug}")
    assert answer.status_code == 404
    assert reason in unescape(answer.content.decode())


def test_the_page_takes_no_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert Client().get("/learn").status_code == 200


def test_a_kept_machine_belongs_to_its_maker() -> None:
    own_browser, new_browser, account_browser = Client(), Client(), Client()
    account_browser.force_login(user("ada"))
    answer = own_browser.post("/learn/keep", {"address": "game=hexapawn&side=second&games=20&win=4"})
    machine = Machine.objects.get()
    assert answer.url == machine.get_absolute_url()
    assert (machine.n_games, machine.box_rule.win, machine.owner) == (20, 4, None)
    assert own_browser.get(answer.url).status_code == 200
    assert [browser.get(answer.url).status_code for browser in (new_browser, account_browser)] == [404, 404]
    assert own_browser.get("/learn/keep").url == "/learn"
    assert Machine.objects.count() == 1


@pytest.mark.parametrize("address", ["games=10000001", "win=x", "game=romgon", "preset=q", "games=1&games=2"])
def test_a_broken_address_makes_no_machine(address: str) -> None:
    client = Client()
    answer = client.post("/learn/keep", {"address": address}, follow=True)
    assert address.partition("=")[0] in str(next(iter(answer.context["messages"])))
    assert Machine.objects.count() == 0
