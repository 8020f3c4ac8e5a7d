"""The recorded facts of each game, counted again by a second program over raw boards.

The second program shares the rules with the first, but none of its graphs, boxes and solvers.
"""

import json
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxSet, InitialBy
from beadbox.learners.facts import PROOFS, facts_make, facts_of
from beadbox.rules.hexapawn.rules import HEXAPAWNS
from beadbox.rules.hexapawn.winner import winner
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.facts import SIDE_NAMES, random_play, result_of
from beadbox.strength.loops import solve
from tests.beadbox.loop_games import mu_torere, pong_hau_ki
from tests.toys import TOYS

DATA = Path(__file__).parents[1] / "data" / "games"
ALL_GAMES = [*GAMES.values(), *TOYS]
every_game = pytest.mark.parametrize("game", ALL_GAMES, ids=lambda game: game.slug)
listed_game = pytest.mark.parametrize("game", [one for one in ALL_GAMES if one.listable], ids=lambda game: game.slug)


@cache
def successors_and_plies(game):
    """Return the positions after each position, and the least number of plies to each, by breadth-first search."""
    after, depth, layer = {}, {game.initial_position(): 0}, [game.initial_position()]
    while layer:
        found = []
        for position in layer:
            after[position] = [game.apply(position, move) for move in game.legal_moves(position)]
            for one in after[position]:
                if one not in depth:
                    depth[one] = depth[position] + 1
                    found.append(one)
        layer = found
    return after, depth


@cache
def class_names(game):
    """Return the name of each position's class: the least text of its images."""
    return {
        position: min(game.encode(game.transform(position, symmetry)) for symmetry in game.symmetries)
        for position in successors_and_plies(game)[0]
    }


@cache
def forced_results(game):
    """Return winner and plies of each position that a side can win by force, found backwards from the end."""
    after, _ = successors_and_plies(game)
    won = {one: (game.outcome(one).winner, 0) for one, next_ones in after.items() if not next_ones}
    won = {one: (side, plies) for one, (side, plies) in won.items() if side is not None}
    undecided_positions, plies = [one for one, next_ones in after.items() if next_ones], 0
    while True:
        plies += 1
        new = {}
        for one in undecided_positions:
            side = game.side_to_move(one)
            if any(won.get(next_one) == (side, plies - 1) for next_one in after[one]):
                new[one] = (side, plies)
            elif all(won.get(next_one, (None, 0))[0] is side.other for next_one in after[one]):
                new[one] = (side.other, plies)
        if not new and plies > 1:
            return won
        won |= new
        undecided_positions = [one for one in undecided_positions if one not in new]


@cache
def drawn_positions(game):
    """Return the undecided positions from which both sides can reach a draw by the rules."""
    after, _ = successors_and_plies(game)
    found = {one for one, next_ones in after.items() if not next_ones and game.outcome(one).winner is None}
    while True:
        undecided = (one for one in after if one not in found and one not in forced_results(game))
        new = {one for one in undecided if found.intersection(after[one])}
        if not new:
            return found
        found |= new


def result_of_position(game, position):
    side, plies = forced_results(game).get(position, (None, None))
    if side is None and position not in drawn_positions(game):
        side, is_endless = game.endless_winner, True
    else:
        is_endless = False
    return {"winner": None if side is None else SIDE_NAMES[side], "endless": is_endless, "plies": plies}


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(one, marks=[] if one.listable or one.slug == one.family else pytest.mark.soak, id=one.slug)
        for one in ALL_GAMES
    ],
)
def test_record_is_what_the_library_computes(game):
    assert facts_of(game) == facts_make(game), f"record it anew: manage.py record_facts {game.slug}"


@listed_game
def test_positions_return_if_the_game_may_not_end(game):
    after, _ = successors_and_plies(game)
    n_ways_in = Counter(one for next_ones in after.values() for one in next_ones)
    ready = [game.initial_position()] if not n_ways_in[game.initial_position()] else []
    n_ordered = 0
    while ready:
        n_ordered += 1
        for one in after[ready.pop()]:
            n_ways_in[one] -= 1
            if not n_ways_in[one]:
                ready.append(one)
    assert (n_ordered == len(after)) == game.always_ends


@listed_game
def test_positions_and_classes(game):
    after, _ = successors_and_plies(game)
    names = class_names(game)
    assert facts_of(game)["positions"] == {"all": len(after), "not_over": sum(map(bool, after.values()))}
    assert facts_of(game)["classes"] == {
        "all": len(set(names.values())),
        "not_over": len({names[one] for one, next_ones in after.items() if next_ones}),
    }


@pytest.mark.parametrize("game", [one for one in ALL_GAMES if facts_of(one)["boxes"]], ids=lambda game: game.slug)
def test_boxes_and_beads(game):
    after, depth = successors_and_plies(game)
    names, first = class_names(game), {}
    for position in after:  # the start of a game need not be the image of itself under all symmetries
        first[names[position]] = min(depth[position], first.get(names[position], depth[position]))
    for side in Side:
        facts = facts_of(game)["boxes"][SIDE_NAMES[side]]
        rule = PRESETS[facts["preset"]].rule
        assert rule.initial_by is InitialBy.MOVE_NUMBER, "beads are counted by the number of the machine's own move"
        least = 2 if rule.box_set is BoxSet.DECISIONS else 1
        boxes = {}
        for position, next_ones in after.items():
            if len(next_ones) >= least and game.side_to_move(position) is side:
                stabiliser = [one for one in game.symmetries if game.transform(position, one) == position]
                kinds = {
                    frozenset(game.transform_move(move, one) for one in stabiliser)
                    for move in game.legal_moves(position)
                }
                number = min(first[names[position]] // 2, len(rule.initial) - 1)
                boxes.setdefault(names[position], set()).add((len(kinds), rule.initial[number]))
        assert all(len(found) == 1 for found in boxes.values())
        n_beads = sum(n_kinds * n_each for ((n_kinds, n_each),) in boxes.values())
        assert (facts["boxes"], facts["beads"]) == (len(boxes), n_beads)


@listed_game
def test_perfect_play_and_first_moves(game):
    start = game.initial_position()
    facts = facts_of(game)
    assert facts["perfect_play"] == result_of_position(game, start)
    own = SIDE_NAMES[game.side_to_move(start)]
    tested = []
    for move in facts["first_moves"]:
        for text in move["moves"]:
            found = result_of_position(game, game.apply(start, game.parse_move(text)))
            found["plies"] = None if found["plies"] is None else found["plies"] + 1
            assert found == {key: move[key] for key in found}
            tested.append(text)
        same = (move["winner"], move["plies"]) == (facts["perfect_play"]["winner"], facts["perfect_play"]["plies"])
        has_lost = facts["perfect_play"]["winner"] not in (None, own)
        assert move["best"] == (has_lost or same)
    assert Counter(tested) == Counter(game.format_move(move) for move in game.legal_moves(start))


@listed_game
def test_length_of_random_play(game):
    after, _ = successors_and_plies(game)
    chances, plies = {game.initial_position(): 1.0}, 0.0
    for _ in range(game.ply_limit):
        plies += sum(chances.values())
        moved = Counter()
        for position, chance in chances.items():
            for one in after[position]:
                if after[one]:
                    moved[one] += chance / len(after[position])
        chances = moved
    facts = facts_of(game)["random_play"]
    assert facts["sampled_games"] is None
    assert (facts["plies"], facts["at_limit"]) == pytest.approx((plies, sum(chances.values())), abs=1e-6)


@pytest.mark.parametrize("name", ["pong-hau-ki", "mu-torere", "ladder-9", "notakto-3x3"])
def test_length_of_random_play_agrees_with_other_program(name):
    rows = {one["name"]: one["rows"] for one in json.loads((DATA / "strength.json").read_text())["games"]}[name]
    row = next(one for one in rows if one["first"] == one["second"] == "random")
    loops = {"pong-hau-ki": pong_hau_ki, "mu-torere": mu_torere}
    if name in loops:
        assert random_play(loops[name](), 200)["at_limit"] == pytest.approx(row["not_over_after_200"], abs=1e-12)
        found = random_play(loops[name](), 5_000)
    else:
        found = facts_of(GAMES[name.partition("-")[0]])["random_play"]
    assert found["plies"] == pytest.approx(row["plies"], abs=1e-6)


def test_endless_play_is_a_separate_result():
    drawn, lost = solve(pong_hau_ki()), solve(pong_hau_ki(), Side.SECOND)
    found = [result_of(int(one.result[0]), int(one.plies[0])) for one in (drawn, lost)]
    assert found == [
        {"winner": None, "endless": True, "plies": None},
        {"winner": "second", "endless": True, "plies": None},
    ]


def test_winners_by_size():
    winners_by_rows = json.loads((DATA / "counts.json").read_text())["hexapawn_winner"]
    table = {(one["columns"], one["rows"]): one["winner"] for one in facts_of(HEXAPAWNS[0])["winners"]}
    for rows in (3, 4, 5, 6):
        sides = next(sides for name, sides in winners_by_rows.items() if name.startswith(f"{rows} rows"))
        assert [table[columns, rows] for columns in range(1, len(sides) + 1)] == [
            SIDE_NAMES[side - 1] for side in sides
        ]
    assert len(table) == sum(map(len, winners_by_rows.values()))


@pytest.mark.parametrize("game", [one for one in HEXAPAWNS if one.listable], ids=lambda game: game.slug)
def test_search_for_the_winner_agrees_with_the_solution(game):
    assert SIDE_NAMES[winner(game.columns, game.rows)] == facts_of(game)["perfect_play"]["winner"]


def test_each_proof_exists():
    for proof in PROOFS.values():
        file, _, name = proof.partition("::")
        module = import_module(file.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, name))


@every_game
def test_published_numbers_are_compared_with_recorded_facts(game):
    for one in game.published:
        number = facts_of(game)
        for key in one.fact.split("."):
            number = number[key]
        assert isinstance(number, int | np.integer)
        assert one.rule.endswith(".")
