"""Pages and API of a machine in a game that can go round in circles say which figure is which."""

from html import unescape

import pytest
from django.test import Client

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, Unfinished
from beadbox.learners.boxes.strength import machine_policy
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Side
from beadbox.strength.exact import joined, unfinished
from learning.kinds.boxes.memory import MEMORY
from learning.kinds.boxes.training import box_visits
from learning.models import Machine
from learning.services.machines import machine_create
from learning.templatetags.shares import per_hundred
from tests.factories import machine
from tests.pages import page_json

pytestmark = pytest.mark.django_db


@pytest.fixture
def learner() -> Machine:
    one = machine_create(game="pong-hau-ki", side=Side.FIRST, name="Round")
    assert (one.preset, one.box_rule) == ("circles", PRESETS["circles"].rule)
    return one


def test_strength_has_the_chance_of_the_ply_limit(client: Client, learner: Machine) -> None:
    strength = client.get(f"/api/machines/{learner.pk}/strength").json()
    memory = MEMORY.load(learner)
    graph, policy = memory.table.graph, machine_policy(memory)
    perfect_policy = opponent_policy(graph.game, UNIFORM["perfect"], reduced=True)
    limit = unfinished(graph, joined(graph, Side.FIRST, policy, perfect_policy))
    assert strength["perfect"]["unfinished"] == limit
    assert 0 < strength["random"]["unfinished"] < 1e-3 < limit
    assert set(strength["worst"]) == {"win", "draw", "loss", "endless", "unfinished"}
    page = " ".join(unescape(client.get(learner.get_absolute_url()).content.decode()).split())
    assert "Here a game stops after 200 moves and counts as one without an end." in page
    assert f"Against perfect play it is {per_hundred(limit)}," in page
    assert "A game without an end also counts as a draw." in page
    assert "After a draw" not in page, "a draw brings no bead"
    assert strength["random"]["unfinished"] > 0
    assert per_hundred(strength["random"]["unfinished"]) != "0"
    assert per_hundred(1e-72) == "less than 0.000001"
    assert "unfinished" not in client.get(f"/api/machines/{machine(Side.FIRST).pk}/strength").json()["random"]


def test_draw_by_agreement_has_a_reward(client: Client) -> None:
    for name, rule, is_described in (("Draws", BoxRule(), True), ("None", BoxRule(unfinished=Unfinished.NONE), False)):
        one = machine_create(game="mu-torere", side=Side.SECOND, name=name, rule=rule)
        page = client.get(one.get_absolute_url()).content.decode()
        assert ("After a draw every box that it used gains one bead" in page) == is_described


def test_chance_and_openings_of_a_box_are_two_figures(client: Client, learner: Machine) -> None:
    visits = box_visits(learner)
    position, visit = max(visits.items(), key=lambda one: one[1].openings)
    assert visit.openings > 1 >= visit.chance
    page = client.get(f"/machines/{learner.pk}/boxes/{position}").content.decode()
    assert f"{visit.openings:.6f}" in page
    assert "the last column is the average of that" in page
    box = client.get(f"/api/machines/{learner.pk}/boxes/{position}").json()
    assert box["visits"][0] == {"against": "random", "chance": visit.chance, "openings": visit.openings}
    rows = page_json(client.get(f"/machines/{learner.pk}/boxes"), "packed")["boxes"]
    assert {row[0]: tuple(row[8:]) for row in rows} == {key: tuple(one) for key, one in visits.items()}
    why_answer = client.get(f"/machines/{learner.pk}/why?position={position}", headers={"Accept": "application/json"})
    assert why_answer.json()["why"]["visit"] == [visit.chance, visit.openings]
