"""Levels with a learnt value explain their moves, and a page shows their weights; other levels explain nothing."""

from typing import Any, cast

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from beadbox.engines.romgon.levels import LEVELS
from beadbox.engines.romgon.shipped import shipped_value
from beadbox.kernels.exact_floats import squash
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.policies.registry import opponents_offered
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.accounts.principal import UNKNOWN_PRINCIPAL
from games.live.play import match_play_move, match_resign, match_step
from games.live.rooms import room_create
from games.live.states import PartsThought
from games.live.store import live_match_load, room_get
from games.models import Match
from learning.kinds.value_learner.levels import level_machine
from learning.kinds.value_learner.live import match_moves
from learning.services.machines import machine_create
from tests.factories import guest, person, room_state, room_view, user
from tests.pages import page_json

pytestmark = pytest.mark.django_db
QUICK_RULE = ValueRule(features="squares-1", search_depth=1, play_depth=1)


def state_after_first_move(level: str, game: str = "romgon", seed: int = 1) -> Any:
    """Return the state after a guest's first move against a level, and the level's answer."""
    room = room_create(person=guest(), game=game, opponent=level, side=Side.FIRST).room
    Match.objects.filter(room=room).update(seed=seed)
    move = room_view(room)["legal_moves"][0]
    return match_play_move(code=room.code, person=guest(), move=move)


def thoughts_of(state: Any) -> list[PartsThought]:
    return cast("list[PartsThought]", state["learning"]["parts"]["thoughts"])


@pytest.mark.parametrize("game", ["romgon", "romgon-flip", "romgon-flip-shuttle"])
@pytest.mark.parametrize("level", ["veteran", "champion", "legend"])
def test_a_level_explains_its_last_move(level: str, game: str) -> None:
    state = state_after_first_move(level, game)
    (thought,), rules, depth = thoughts_of(state), game_get(game), LEVELS[level].depth
    _, (position, move) = match_moves(live_match_load(Match.objects.get()))
    machine = level_machine(rules, depth)
    assert machine is not None
    look = machine.search(position, whole=True)
    assert look.moves[look.best] == move
    assert (thought["ply"], thought["role"], thought["depth"]) == (1, "White", depth)
    assert thought["sum"] == look.near[look.best] == sum(group["value"] for group in thought["groups"])
    assert [group["value"] for group in thought["groups"]] == [
        part.value for part in machine.parts(rules.apply(position, move))
    ]
    (played_move,) = (one for one in thought["moves"] if one["chosen"])
    assert played_move["move"] == rules.format_move(move)
    phrase = "Looking one move ahead, it found" if depth == 1 else f"It looked {depth} moves ahead."
    assert thought["words"].startswith(f"It played {played_move['name']}, out of {len(look.moves)} moves. {phrase}")
    found_values = {one["found"] for one in thought["moves"]}
    assert played_move["found"] == (squash(look.score) if depth == 1 else None)
    assert depth == 1 or found_values == {None}
    assert thought["url"] == f"/learnt/{game}"
    assert state["learning"]["machine"] is None
    assert state["learning"]["parts"]["changes"] == []
    # The explanation is the same when the room is read again, by any viewer.
    state_read_again = room_state(room_get(state["code"]))
    assert state_read_again.redact_for(UNKNOWN_PRINCIPAL)["learning"] == state["learning"]


def test_a_random_move_is_explained_as_random() -> None:
    seed_by_chance = {RandomSource(seed, 1).below(10) < 3: seed for seed in range(1, 30)}
    assert set(seed_by_chance) == {True, False}
    for chance, seed in seed_by_chance.items():
        (thought,) = thoughts_of(state_after_first_move("skilled", seed=seed))
        assert ("It left this move to chance." in thought["words"]) is chance
        assert ("Looking one move ahead, it found" in thought["words"]) is not chance


def test_explanations_stay_visible_after_the_match() -> None:
    state = state_after_first_move("legend")
    match_resign(code=state["code"], person=guest())
    final_state = room_view(room_get(state["code"]))
    assert thoughts_of(final_state) == thoughts_of(state)
    assert final_state["learning"] is not None
    assert (final_state["learning"]["lesson"], final_state["learning"]["lessons"]) == (None, [])


def test_explanations_take_no_query() -> None:
    counts = []
    for level in ("medium", "legend"):
        code = state_after_first_move(level)["code"]
        with CaptureQueriesContext(connection) as queries:
            room_state(room_get(code))
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(("level", "game"), [("easy", "romgon"), ("novice", "romgon"), ("hard", "romgon-turn")])
def test_levels_without_a_learnt_value_explain_nothing(level: str, game: str) -> None:
    assert state_after_first_move(level, game)["learning"] is None


def test_two_levels_both_explain_but_a_machine_comes_first() -> None:
    """A match of two levels shows what both thought; a machine's explanation goes before a level's."""

    def play_two_plies(first: str, second: str) -> Any:
        seated = room_create(person=guest(), game="romgon", first=first, second=second)
        return match_step(code=seated.room.code, person=guest(), max_plies=2)

    state_of_levels = play_two_plies("veteran", "legend")
    assert [(one["ply"], one["role"], one["depth"]) for one in thoughts_of(state_of_levels)] == [
        (0, "Black", 1),
        (1, "White", 4),
    ]
    assert state_of_levels["learning"]["role"] == "White"
    machine = machine_create(game="romgon", side=None, name="V", rule=QUICK_RULE)
    state_with_machine = play_two_plies(str(machine.pk), "champion")
    assert state_with_machine["learning"]["machine"]["id"] == machine.pk
    assert [one["url"] for one in thoughts_of(state_with_machine)] == [f"{machine.get_absolute_url()}#weights"]
    other = machine_create(game="romgon", side=None, name="Q", preset="romgon-q")
    for first, second in ((machine, other), (other, machine)):
        state = play_two_plies(str(first.pk), str(second.pk))
        assert [one["role"] for one in thoughts_of(state)] == ["Black" if first is machine else "White"]
        assert [one["role"] for one in state["learning"]["values"]["plies"]] == ["Black" if first is other else "White"]
        assert state["learning"]["machine"]["id"] == second.pk
    owner = user()
    own_machine = machine_create(game="romgon", side=None, name="Mine", rule=QUICK_RULE, owner=owner)
    seats = {"opponent": "machine", "machine": str(other.pk), "takes_over": str(own_machine.pk), "side": Side.SECOND}
    code = room_create(person=person(owner), game="romgon", **seats).room.code
    for _ in range(2):
        state = room_view(room_get(code))
        match_play_move(code=code, person=person(owner), move=state["legal_moves"][0])
    match_resign(code=code, person=person(owner))
    final_learning = room_view(room_get(code))["learning"]
    assert [one["machine"]["id"] for one in final_learning["lessons"]] == [other.pk, own_machine.pk]
    assert final_learning["parts"]["changes"]
    assert final_learning["values"]["changes"]
    assert final_learning["lesson"]["sentence"] == next(
        one["sentence"] for one in final_learning["lessons"] if one["role"] == final_learning["role"]
    )


class TestPage:
    @pytest.mark.parametrize(("game", "name"), [("romgon", "plain"), ("romgon-flip", "flips")])
    def test_page_shows_the_weights_of_the_levels(self, client: Client, game: str, name: str) -> None:
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(f"/learnt/{game}")
        assert (answer.status_code, len(queries)) == (200, 0)
        rules, weights = game_get(game), shipped_value(name).weights
        machine = level_machine(rules)
        assert machine is not None
        sheet = machine.valuer.sheet(rules, machine.rule.features)
        maps = page_json(answer, "maps")
        assert [one["weights"] for one in maps] == [weights[list(one.cells)].tolist() for one in sheet.maps]
        page = answer.content.decode()
        (top_level, *_) = (ladder_entry.opponent for ladder_entry in reversed(opponents_offered(rules)))
        assert f'name="opponent" value="{top_level.slug}"' in page
        other = {"romgon": "romgon-flip", "romgon-flip": "romgon"}[game]
        assert f'href="/learnt/{other}"' in page
        assert f'href="/learnt/{game}"' not in page

    @pytest.mark.parametrize("game", ["romgon-turn", "noughts-and-crosses", "nothing", "x%00", "<b>"])
    def test_games_without_a_learnt_value_have_no_page(self, client: Client, game: str) -> None:
        answer = client.get(f"/learnt/{game}")
        assert answer.status_code == 404
        assert "This drawer is empty" in answer.content.decode()
        assert "<b>" not in answer.content.decode()
