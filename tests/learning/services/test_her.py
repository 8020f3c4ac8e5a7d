"""Gardner's HER and the boxes of hexapawn: figures of docs/rules/hexapawn.md and docs/learning.md."""

from collections import Counter
from io import StringIO
from statistics import median

import pytest
from django.core.management import call_command
from django.test import Client

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.printed_set import printed_set
from beadbox.learners.boxes.strength import worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.exact import expected
from beadbox.strength.graph import graph_compile
from learning.models import Machine
from learning.services.machines import machine_create
from tests.factories import machine_strength

GAME = GAMES["hexapawn"]
HER_RULE = PRESETS["gardner-her"].rule


def test_her_has_19_boxes_and_gardner_drew_24():
    table = boxes_compile(GAME, Side.SECOND, HER_RULE)
    assert Counter((table.move_number + 1).tolist()) == {1: 2, 2: 10, 3: 7}
    drawings = printed_set(table.cabinet)
    assert Counter(table.cabinet.move_number(position) + 1 for position in drawings) == {1: 2, 2: 11, 3: 11}
    assert len(set(drawings)) == 24
    assert {GAME.encode(GAME.canonical(position)) for position in drawings} == set(table.keys)


def test_each_drawing_has_its_mirror_image_or_replaces_it():
    drawings = printed_set(Cabinet(GAME, Side.SECOND, HER_RULE))
    mirror = GAME.symmetries[1]
    pairs = [position for position in drawings if GAME.transform(position, mirror) in drawings]
    assert len({GAME.canonical(position) for position in pairs}) + len(set(drawings) - set(pairs)) == 19


@pytest.mark.parametrize(
    ("slug", "n_first", "n_second"),
    [
        ("hexapawn", 18, 19),
        ("hexapawn-4x3", 133, 114),
        ("hexapawn-3x4", 159, 153),
        ("hexapawn-4x4", 2_943, 2_791),
        ("hexapawn-5x3", 858, 730),
    ],
)
def test_numbers_of_boxes_on_every_board(slug, n_first, n_second):
    assert [boxes_compile(GAMES[slug], side, HER_RULE).n_boxes for side in Side] == [n_first, n_second]


def test_strength_of_random_against_random():
    graph, policy = graph_compile(GAME, reduced=True), opponent_policy(GAME, OPPONENTS["random"], reduced=True)
    assert expected(graph, Side.FIRST, policy, policy).win == pytest.approx(0.5995, abs=5e-5)


@pytest.mark.django_db
def test_the_page_shows_gardners_24_drawings_and_the_19_boxes(client: Client) -> None:
    her = machine_create(game="hexapawn", side=Side.SECOND, name="HER", preset="gardner-her")
    assert "As Gardner drew them" in client.get(her.get_absolute_url()).content.decode()
    page = client.get(f"/machines/{her.pk}/drawings")
    assert [(m["number"], m["n_drawings"], m["n_boxes"]) for m in page.context["moves"]] == [
        (1, 2, 2),
        (2, 11, 10),
        (3, 11, 7),
    ]
    assert "24 drawings, 19 boxes" in page.content.decode()
    for group in page.context["groups"]:
        assert client.get(group["url"]).status_code == 200
        for drawing in group["drawings"]:
            position = GAME.decode(drawing["position"])
            moves = {move for slot in drawing["slots"] for move in slot["moves"]}
            assert moves == set(map(GAME.format_move, GAME.legal_moves(position)))


@pytest.mark.django_db
def test_no_other_machine_has_drawings(client: Client) -> None:
    for fields in (
        {"game": "hexapawn", "preset": "hexapawn-rl"},
        {"game": "hexapawn-4x3", "preset": "gardner-her"},
        {"game": "noughts-and-crosses", "preset": "gardner-her"},
    ):
        other = machine_create(side=Side.SECOND, name="Other", **fields)
        assert "As Gardner drew them" not in client.get(other.get_absolute_url()).content.decode()
        assert client.get(f"/machines/{other.pk}/drawings").status_code == 404
    assert client.get("/machines/999999/drawings").status_code == 404


@pytest.mark.django_db
def test_the_house_has_both_robots_and_her_is_beatable() -> None:
    call_command("pretrain", stdout=StringIO())
    her, him = Machine.objects.get(slug="her"), Machine.objects.get(slug="him")
    assert [(m.game, m.side, m.n_games) for m in (her, him)] == [("hexapawn", 1, 20), ("hexapawn", 0, 20)]
    assert 0.5 < machine_strength(her)["random"]["win"] < 1
    assert machine_strength(her)["worst"]["loss"] > 0


def games_until_perfect(seed: int) -> tuple[int, int]:
    """Return the games against random play until no opponent can beat HER, and the losses among them."""
    memory, rng = Memory.fresh(boxes_compile(GAME, Side.SECOND, HER_RULE)), RandomSource(seed)
    n_games = n_losses = 0
    while worst_case(memory).loss > 0:
        # Only a loss changes the beads.
        while True:
            tally = memory.train(OPPONENTS["random"], 1, rng)
            n_games += 1
            if tally.losses:
                break
        n_losses += 1
    return n_games, n_losses


def test_her_is_perfect_after_about_a_hundred_games():
    games, losses = zip(*map(games_until_perfect, range(300)), strict=True)
    assert 90 <= median(games) <= 150
    assert 10 <= median(losses) <= 12
