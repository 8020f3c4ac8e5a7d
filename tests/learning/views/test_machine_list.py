"""The list of machines: sorted and filtered by the database, with a fixed number of queries."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.rules.outcome import Side
from learning.filters import SORTS, MachineListFilter
from learning.models import Machine, Standing
from learning.services.machines import machine_create
from learning.tasks import standings_keep
from tests.factories import NC, machine, room, trained_machine, user

pytestmark = pytest.mark.django_db


def listed_names(client: Client, query: str = "") -> list[str]:
    context = client.get(f"/machines?{query}").context
    return [row["name"] for row in (*context["own"], *context["machines"])]


def make_machines(n: int, **fields: Any) -> list[Machine]:
    """Create ``n`` machines without boxes, each with its own games and score."""
    machines = Machine.objects.bulk_create(
        Machine(
            slug=f"many-{k}",
            name=f"Many {k:05d}",
            game=NC,
            side=k % 2,
            preset="scroggs",
            rule_json={},
            n_games=k,
            n_draws=k,
            **fields,
        )
        for k in range(n)
    )
    Standing.objects.bulk_create(
        Standing(machine=one, games=k, score=k / n, win=k / n, draw=0, loss=1 - k / n, curve=[0, 0.5, k, k / n])
        for k, one in enumerate(machines)
    )
    return machines


@pytest.fixture
def three_machines() -> dict[str, Machine]:
    """Return a first and a second player of noughts and crosses and one of hexapawn, with different strengths."""
    machines = {
        "Ada": trained_machine(machine(Side.FIRST, name="Ada", preset="scroggs"), 300),
        "Cy": machine_create(game="hexapawn", side=Side.SECOND, name="Cy", preset="gardner-her"),
        "Bo": trained_machine(machine(Side.SECOND, name="Bo"), 100),
    }
    standings_keep()
    return machines


class TestSorting:
    def test_sorting_by_each_column_in_both_directions(
        self, client: Client, three_machines: dict[str, Machine]
    ) -> None:
        score = {name: Standing.objects.get(pk=one.pk).score or 0 for name, one in three_machines.items()}
        by_score = sorted(score, key=lambda name: score[name])
        for query, expected in {
            "": ["Ada", "Bo", "Cy"],
            "sort=game": ["Cy", "Ada", "Bo"],
            "sort=side": ["Ada", "Bo", "Cy"],
            "sort=rule": ["Cy", "Bo", "Ada"],
            "sort=games": ["Cy", "Bo", "Ada"],
            "sort=-games": ["Ada", "Bo", "Cy"],
            "sort=strength": by_score,
            "sort=-strength": by_score[::-1],
        }.items():
            assert listed_names(client, query) == expected, query

    @pytest.mark.parametrize("sort", SORTS)
    def test_sorting_reads_an_index(self, sort: str) -> None:
        make_machines(1500)
        machines = MachineListFilter({"sort": sort}, Machine.objects.filter(is_public=True)).qs
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE learning_machine, learning_standing")
        plan = machines.select_related("standing")[:24].explain()
        assert "Sort" not in plan.replace("Incremental Sort", "")
        assert re.search(r"Index (Only )?Scan.* using (machine_by_\w+|standing_\w+)", plan), plan

    def test_pages_have_each_machine_once(self, client: Client) -> None:
        make_machines(60)
        Standing.objects.update(score=0.5, games=7)
        for sort in SORTS:
            all_names = [name for page in range(1, 6) for name in listed_names(client, f"sort={sort}&page={page}")]
            assert len(all_names) == len(set(all_names)) == 60
        page = client.get("/machines?sort=-games&game=noughts-and-crosses&page=2").content.decode()
        assert 'href="?sort=-games&amp;game=noughts-and-crosses&amp;page=3"' in page
        assert listed_names(client, "page=99") == listed_names(client, "page=5")


class TestFilters:
    def test_filters_by_every_column(self, client: Client, three_machines: dict[str, Machine]) -> None:
        owner = user("somebody")
        Machine.objects.filter(name="Bo").update(owner=owner, preset="")
        for query, expected in {
            "search=A": ["Ada"],
            "game=hexapawn": ["Cy"],
            "side=1": ["Bo", "Cy"],
            "side=both": [],
            "rule=scroggs": ["Ada"],
            "rule=own": ["Bo"],
            "games=100": ["Ada", "Bo"],
            "games=101": ["Ada"],
            "whose=house": ["Ada", "Cy"],
            "whose=own": [],
            "strength=100": [],
            "strength=0": ["Ada", "Bo", "Cy"],
            "side=1&games=1": ["Bo"],
        }.items():
            assert listed_names(client, query) == expected, query
        client.force_login(owner)
        assert listed_names(client, "whose=own") == ["Bo"]

    @pytest.mark.parametrize(
        "wrong_query",
        ["game=chess", "side=9", "rule=../..", "games=-1", "games=1e99", "games=much", "strength=101", "strength=nan",
         "whose=owner", "sort=password", f"search={'x' * 81}"],
    )  # fmt: skip
    def test_an_invalid_choice_is_shown_at_its_field(
        self, client: Client, three_machines: dict[str, Machine], wrong_query: str
    ) -> None:
        page = client.get(f"/machines?{wrong_query}")
        field = wrong_query.partition("=")[0]
        assert list(page.context["form"].errors) == [field]
        assert f'id="id_{field}_error"' in page.content.decode()
        assert [row["name"] for row in page.context["machines"]] == ["Ada", "Bo", "Cy"]


class TestVisibility:
    def test_private_machines_and_room_copies_are_not_listed(self, client: Client) -> None:
        """Private machines are listed for their owner alone, copies for rooms for no one."""
        owner, other_account = user("mine"), user("other")
        machine(name="Secret", owner=owner, is_public=False)
        machine(name="Open", slug="open")
        room("machine", machine="open", fresh=True)
        lists: list[Callable[[], list[str]]] = [
            lambda query=query: listed_names(client, query)  # type: ignore[misc]
            for query in ("", "search=Secret", "sort=-games", "whose=house", "games=0", f"game={NC}")
        ]
        for account in (None, other_account):
            if account:
                client.force_login(account)
            assert all("Secret" not in list_names() for list_names in lists)
            assert listed_names(client) == ["Open"]
            assert b"Secret" not in client.get("/machines/compare?search=ecre").content.replace(b"ecre\xe2", b"")
        client.force_login(owner)
        assert listed_names(client) == ["Secret", "Open"], "own machines come first"
        assert listed_names(client, "whose=own") == ["Secret"]

    def test_a_guests_machine_is_listed_for_the_guest_alone(self, client: Client) -> None:
        client.post("/teach", {"game": NC})
        (own_machine,) = Machine.objects.filter(guest__isnull=False)
        for query in ("", "whose=own", f"game={NC}&sort=-games"):
            assert listed_names(client, query) == [own_machine.name], query
            assert listed_names(Client(), query) == [], query
        assert listed_names(client, "whose=house") == []
        assert "kept in this browser" in client.get("/machines").content.decode()


class TestOwnFirst:
    def test_own_machines_come_first_and_once(self, client: Client) -> None:
        ada = user("ada")
        for name in ("Aa", "Zz"):
            machine(name=name)
        for k in range(7):
            machine(name=f"Mine {k}", owner=ada)
        client.force_login(ada)
        context = client.get("/machines").context
        assert [row["name"] for row in context["own"]] == [f"Mine {k}" for k in (6, 5, 4, 3, 2)]
        assert [row["name"] for row in context["machines"]] == ["Aa", "Zz"]
        page = client.get("/machines").content.decode()
        assert page.index("Your machines") < page.index("Mine 6") < page.index("All other machines") < page.index("Aa")
        assert "/machines?whose=own&amp;sort=-games" in page
        assert len(listed_names(client, "whose=own&sort=-games")) == 7
        assert listed_names(client, "sort=name") == ["Aa", *(f"Mine {k}" for k in range(7)), "Zz"]
        assert "Your machines" not in Client().get("/machines").content.decode()

    def test_a_single_own_machine_is_listed_once(self, client: Client) -> None:
        client.post("/teach", {"game": NC})
        page = client.get("/machines").content.decode()
        assert "Your machines" in page
        assert "All other machines" not in page

    def test_own_machines_are_on_the_first_page_only(self, client: Client) -> None:
        client.force_login(ada := user("ada"))
        machine(name="Mine", owner=ada)
        for one in make_machines(30):
            Standing.objects.get_or_create(machine=one)
        context = client.get("/machines?page=2").context
        assert (context["own"], len(context["machines"])) == ([], 12)


class TestCost:
    def test_number_of_queries_does_not_depend_on_the_length(self, client: Client) -> None:
        counts = []
        for n in (1, 999):
            make_machines(n) if n == 1 else Machine.objects.all().delete() and make_machines(1000)
            with CaptureQueriesContext(connection) as queries:
                page = client.get("/machines?sort=-strength")
            counts.append(len(queries))
        assert counts[0] == counts[1] <= 3
        assert len(page.content) < 100_000

    def test_a_page_of_all_games_holds_each_board_once(
        self, client: Client, three_machines: dict[str, Machine]
    ) -> None:
        assert set(client.get("/machines").context["boards"]) == {NC, "hexapawn"}


class TestComparing:
    def test_search_finds_machines_to_add(self, client: Client, three_machines: dict[str, Machine]) -> None:
        ada, bo = three_machines["Ada"], three_machines["Bo"]
        page = client.get(f"/machines/compare?machine={ada.pk}&search=O").content.decode()
        assert f'href="/machines/compare?machine={ada.pk}&amp;machine={bo.pk}"' in page
        assert "Cy" not in page
        page_of_both = client.get(f"/machines/compare?machine={ada.pk}&machine={bo.pk}").content.decode()
        assert f'href="/machines/compare?machine={bo.pk}"' in page_of_both
        for odd_search in ("%25", "'", "x" * 5000, "<b>"):
            assert client.get(f"/machines/compare?search={odd_search}").status_code == 200

    def test_at_most_six_machines_are_compared(self, client: Client) -> None:
        query = "&".join(f"machine={one.pk}" for one in make_machines(6))
        page = client.get(f"/machines/compare?{query}&search=Many").content.decode()
        assert "One picture holds no more machines" in page
        assert 'name="search"' not in page
