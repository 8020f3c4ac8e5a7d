"""The page with the ways to play a game, and the button that sends two machines off to train."""

from typing import Any

import pytest
from django.test import Client

from beadbox.policies.registry import opponents_offered
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.models import Room, Seat
from learning.models import TrainingRun
from tests.factories import NC, house_machines, machine, user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_its_ways_to_play(client: Client, game: str) -> None:
    page = client.get(f"/play/{game}")
    assert page.status_code == 200
    players = {player["slug"] for player in page.context["players"]}
    offered_slugs = {one.opponent.slug for one in opponents_offered(GAMES[game])}
    assert offered_slugs == players, "the house's machines stand among the machines"
    assert {"random", "win-block"} <= players or {"easy", "medium"} < players
    # Every offered opponent and every offered pair of players can be chosen.
    for slug in players:
        assert client.post("/rooms", {"game": game, "opponent": slug, "side": "second"}).url.startswith("/rooms/")
        assert client.post("/rooms", {"game": game, "first": slug, "second": "random"}).url.startswith("/rooms/")
    for opponent in page.context["game"]["rivals"]:
        form = {"game": game, "opponent": opponent["opponent"], "side": opponent["side"]}
        assert client.post("/rooms", form).url.startswith("/rooms/")


def test_an_unknown_game_is_not_found(client: Client) -> None:
    assert client.get("/play/chess").status_code == 404


def test_one_click_opens_a_match_with_a_house_machine(client: Client) -> None:
    assert {one["opponent"] for one in client.get(f"/play/{NC}").context["game"]["rivals"]} == {"win-block"}
    house_machines()
    rivals = client.get(f"/play/{NC}").context["game"]["rivals"]
    assert [(one["opponent"], one["name"]) for one in rivals] == [("menace", "MENACE the Second"), ("menace", "MENACE")]


def test_house_machines_have_their_short_names(client: Client) -> None:
    names = {}
    for game in (NC, "hexapawn"):
        opponents = client.get(f"/play/{game}").context["game"]["opponents"]
        names[game] = {one["slug"]: one["name"] for one in opponents}["menace"]
    assert names == {NC: "MENACE", "hexapawn": "HIM or HER"}


def test_visible_machines_are_offered_with_own_ones_first(client: Client) -> None:
    owner = user()
    own_machine, other_machine = machine(Side.FIRST, owner=owner, is_public=False), machine(Side.SECOND)
    context = client.get(f"/play/{NC}").context
    assert ([one["id"] for one in context["own"]], [one["id"] for one in context["others"]]) == ([], [other_machine.pk])
    client.force_login(owner)
    context = client.get(f"/play/{NC}?machine={own_machine.pk}").context
    assert [(one["id"], one["chosen"]) for one in context["own"]] == [(own_machine.pk, True)]
    assert [[one["id"] for one in side["machines"]] for side in context["sides"]] == [
        [own_machine.pk],
        [other_machine.pk],
    ]


def test_number_of_queries_does_not_depend_on_machines(client: Client, django_assert_num_queries: Any) -> None:
    machine(Side.FIRST)
    with django_assert_num_queries(2):
        client.get(f"/play/{NC}")
    for _ in range(3):
        machine(Side.SECOND)
    with django_assert_num_queries(2):
        client.get(f"/play/{NC}")


def test_forms_take_over_a_seat_or_open_an_exhibition(client: Client) -> None:
    learner = machine(Side.SECOND)
    client.post("/rooms", {"game": NC, "opponent": "random", "takes_over": str(learner.pk), "fresh": "on"})
    assert Seat.objects.get(side=1).takes_over == "machine"
    answer = client.post("/rooms", {"game": NC, "first": "random", "second": str(learner.pk)}, follow=True)
    assert answer.context["is_host"] is True
    assert Client().get(answer.redirect_chain[-1][0]).context["is_host"] is False
    refusal = client.post("/rooms", {"game": NC, "opponent": "random", "takes_over": str(learner.pk)}, follow=True)
    assert "is not yours" in str(next(iter(refusal.context["messages"])))
    assert Room.objects.count() == 2


def test_match_page_names_the_machines_the_visitor_may_change(client: Client) -> None:
    owner = user()
    own_machine, other_machine = machine(Side.FIRST, owner=owner), machine(Side.SECOND)
    client.force_login(owner)
    page = client.post(
        "/rooms", {"game": NC, "first": str(own_machine.pk), "second": str(other_machine.pk)}, follow=True
    )
    assert page.context["managed"] == [own_machine.pk]
    assert Client().get(page.redirect_chain[-1][0]).context["managed"] == []


class TestTrainingTogether:
    def test_two_own_machines_both_learn(self, client: Client) -> None:
        owner = user()
        own_machine, other_machine, house_machine = (
            machine(side, owner=account) for side, account in ((0, owner), (1, owner), (1, None))
        )
        client.force_login(owner)
        assert [one.pk for one in client.get(f"/machines/{own_machine.pk}").context["partners"]] == [
            other_machine.pk,
            house_machine.pk,
        ]
        for opponent, learns in ((other_machine, True), (house_machine, False)):
            answer = client.post(
                f"/machines/{own_machine.pk}/train-together", {"opponent": opponent.pk, "games": "1000"}
            )
            run = TrainingRun.objects.latest("pk")
            assert answer.url == f"/runs/{run.pk}"
            stage = run.stages.get()
            assert (run.n_games, stage.opponent_machine, stage.opponent_learns) == (1000, opponent, learns)

    @pytest.mark.parametrize(
        ("account_name", "form", "status"),
        [
            ("outsider", {}, 403),
            (None, {}, 302),
            ("owner", {"opponent": "999999"}, 404),
            ("owner", {"games": "0"}, 302),
            ("owner", {"games": "many"}, 302),
            ("owner", {"games": "9" * 5000}, 302),
        ],
    )
    def test_refusals_of_training_together(
        self, client: Client, account_name: str | None, form: dict[str, str], status: int
    ) -> None:
        owner, outsider = user("owner"), user("outsider")
        own_machine, other_machine = machine(Side.FIRST, owner=owner), machine(Side.SECOND, owner=owner)
        if account_name is not None:
            client.force_login({"owner": owner, "outsider": outsider}[account_name])
        answer = client.post(
            f"/machines/{own_machine.pk}/train-together", {"opponent": str(other_machine.pk), "games": "10", **form}
        )
        assert answer.status_code == status
        assert not TrainingRun.objects.exists()
