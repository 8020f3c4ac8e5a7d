"""The requirements of the interface, checked for every game of the registry and the example games of the tests."""

import math
import re
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beadbox.learners.facts import facts_file, facts_of
from beadbox.rules.errors import IllegalMoveError, InvalidMoveError, InvalidPositionError, UnknownGameError
from beadbox.rules.hexapawn.rules import Hexapawn
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, family_games, game_get
from beadbox.rules.squares import SYMMETRIES
from beadbox.strength.graph import graph_compile
from tests.beadbox.rules.walks import MAX_PLIES, episodes, error_of, positions_met
from tests.toys import TOYS

ROOT = Path(__file__).parents[3]
TEST_FILES_OF_ALL_GAMES = ("test_conformance.py", "test_playthroughs.py", "test_commands.py")
REGISTERED_GAMES = tuple(GAMES.values())
registered_game = pytest.mark.parametrize("game", REGISTERED_GAMES, ids=lambda game: game.slug)
every_game = pytest.mark.parametrize("game", [*GAMES.values(), *TOYS], ids=lambda game: game.slug)


@pytest.fixture(autouse=True, scope="module")
def _register_toys():
    with pytest.MonkeyPatch.context() as patch:
        for game in TOYS:
            patch.setitem(GAMES, game.slug, game)
        yield


def test_a_game_is_found_by_its_slug():
    assert {slug: game_get(slug) for slug in GAMES} == GAMES
    assert all(slug == game.slug for slug, game in GAMES.items())


@every_game
def test_family_leads_with_its_usual_game_and_names_variants(game):
    usual, *variants = family_games(game.family)
    assert (usual.slug, usual.variant) == (game.family, "")
    assert len({other.variant for other in variants}) == len(variants)
    assert all(other.variant and other.slug.startswith(f"{usual.slug}-") for other in variants)


def test_names_of_games_are_unique():
    assert len({game.full_name for game in GAMES.values()}) == len(GAMES)
    assert game_get("romgon-flip-turn").full_name == "Romgon with flips and turning pieces"
    assert game_get("hexapawn-4x3").full_name == "Hexapawn 4 × 3"


def test_refusal_of_an_unknown_game_quotes_its_slug():
    with pytest.raises(UnknownGameError, match="'go'") as refused:
        game_get("go")
    assert refused.value.code == "unknown_game"


@every_game
def test_game_has_texts_that_introduce_it(game):
    assert game.name
    assert game.summary.endswith(".")
    assert all(game.presentation.reasons.values())


@every_game
def test_guide_to_the_rules_is_short_and_has_a_picture(game):
    guide = game.presentation.guide
    assert any(part.position is not None for part in guide)
    assert len({part.title for part in guide}) == len(guide) <= 9
    assert sum(len(part.words.split()) for part in guide) <= 250
    for part in guide:
        assert part.title
        assert part.words.endswith(".")
        assert all(len(sentence.split()) <= 20 for sentence in re.split(r"(?<=\.) ", part.words)), part.words
        if part.position is not None:
            assert game.decode(game.encode(part.position)) == part.position
            assert set(part.moves) <= set(game.legal_moves(part.position))


@every_game
def test_board_shows_each_number_used_in_cell_names(game):
    layout = game.presentation.layout
    names_have_numbers = any(re.search(r"\d", cell.name) for cell in layout.cells)
    assert (layout.coordinates != "") == names_have_numbers
    if layout.coordinates == "edges":
        names = [re.fullmatch(r"([a-z])(\d+)", cell.name).groups() for cell in layout.cells]
        for axis, part in (("x", 0), ("y", 1)):
            places = {(getattr(cell, axis), name[part]) for cell, name in zip(layout.cells, names, strict=True)}
            assert len(places) == len({place for place, _ in places}) == len({label for _, label in places})
    if layout.coordinates == "cells":
        assert len({cell.mark for cell in layout.cells}) == len(layout.cells)
        for cell in layout.cells:
            assert set(re.findall(r"\d+", cell.mark)) <= set(re.findall(r"\d+", cell.name))


@every_game
def test_each_side_has_a_prompt_in_one_sentence(game):
    prompts = game.presentation.layout.prompts
    assert all(prompt.startswith("Your turn") and prompt.endswith(".") for prompt in prompts)


@every_game
def test_random_games_end_with_a_declared_reason(game):
    for positions in episodes(game, 50):
        assert len(positions) <= MAX_PLIES
        outcome = game.outcome(positions[-1])
        assert outcome is not None
        assert outcome.winner in (None, Side.FIRST, Side.SECOND)
        assert outcome.winner is not None or game.has_draws
        assert outcome.termination in game.presentation.reasons


@every_game
def test_legal_moves_are_empty_exactly_at_the_end(game):
    for position in positions_met(game, 100):
        assert (game.legal_moves(position) == ()) == (game.outcome(position) is not None) == game.is_terminal(position)


@every_game
def test_legal_moves_are_distinct_and_change_the_position(game):
    """Each legal move leads to another position; listing and playing moves leave the position as it is."""
    for position in positions_met(game, 50):
        before = game.encode(position)
        legal = game.legal_moves(position)
        assert len(set(legal)) == len(legal)
        for move in legal:
            after = game.play(position, move)
            assert after == game.apply(position, move) != position
        assert game.encode(position) == before
        assert game.legal_moves(position) == legal


@every_game
def test_play_refuses_illegal_moves(game):
    positions = positions_met(game, 20)
    moves = {move for position in positions for move in game.legal_moves(position)}
    for position in positions:
        for move in moves - set(game.legal_moves(position)):
            with pytest.raises(IllegalMoveError) as refused:
                game.play(position, move)
            assert repr(game.format_move(move)) in str(refused.value)
            assert repr(game.encode(position)) in str(refused.value)
            assert refused.value.code == "illegal_move"


@every_game
@pytest.mark.sampled(8)
def test_positions_and_moves_survive_a_round_trip_as_text(game):
    for position in positions_met(game, 100):
        text = game.encode(position)
        assert game.decode(text) == position
        assert hash(game.decode(text)) == hash(position)
        assert text.isascii()
        texts = [game.format_move(move) for move in game.legal_moves(position)]
        assert len(set(texts)) == len(texts)
        assert tuple(map(game.parse_move, texts)) == game.legal_moves(position)


@every_game
@given(text=st.text(max_size=30))
@settings(max_examples=50)
@pytest.mark.sampled(8)
def test_refusal_of_an_invalid_position_quotes_the_text(game, text):
    error = error_of(game.decode, text)
    if error is None:
        assert game.encode(game.decode(text)) == text
    else:
        assert type(error) is InvalidPositionError
        assert error.code == "invalid_position"
        assert repr(text) in str(error)


@every_game
@given(text=st.text(max_size=8))
@settings(max_examples=50)
@pytest.mark.sampled(8)
def test_refusal_of_an_invalid_move_quotes_the_text(game, text):
    error = error_of(game.parse_move, text)
    if error is None:
        assert game.format_move(game.parse_move(text)) == text
    else:
        assert type(error) is InvalidMoveError
        assert error.code == "invalid_move"
        assert repr(text) in str(error)


@every_game
def test_one_move_adds_at_most_one_ply(game):
    for positions in episodes(game, 50):
        assert game.ply(positions[0]) == 0
        for move_number, (before, after) in enumerate(pairwise(positions), start=1):
            assert game.ply(after) <= min(game.ply(before) + 1, move_number)


@every_game
def test_symmetries_form_a_group_with_the_identity_first(game):
    permutations = [symmetry.cells for symmetry in game.symmetries]
    n_cells = len(game.presentation.layout.cells)
    assert permutations[0] == tuple(range(n_cells))
    assert len(set(permutations)) == len(permutations)
    assert len({symmetry.name for symmetry in game.symmetries}) == len(permutations)
    for symmetry in game.symmetries:
        assert sorted(symmetry.cells) == list(range(n_cells))
        assert symmetry.then(game.inverses[symmetry]) == permutations[0]
        assert game.inverses[symmetry].then(symmetry) == permutations[0]
        for other in game.symmetries:
            assert symmetry.then(other) in permutations


@every_game
def test_symmetries_of_the_picture_have_the_declared_turns(game):
    cells = game.presentation.layout.cells
    middle_x, middle_y = game.presentation.layout.columns / 2, game.presentation.layout.rows / 2
    for symmetry in game.symmetries:
        angle = symmetry.quarter_turns * math.pi / 2
        image_points = []
        for cell in cells:
            right, down = cell.x - middle_x, cell.y - middle_y
            if symmetry.mirrored:
                right = -right
            image_points.append(
                (right * math.cos(angle) - down * math.sin(angle), right * math.sin(angle) + down * math.cos(angle))
            )
        target_points = [(cells[target].x - middle_x, cells[target].y - middle_y) for target in symmetry.cells]
        assert np.allclose(image_points, target_points, atol=1e-5) is not symmetry.exchanged


@every_game
def test_symmetries_map_lines_to_lines(game):
    lines = {frozenset(ends) for ends in game.presentation.layout.lines}
    for symmetry in game.symmetries:
        assert {frozenset(symmetry.cells[cell] for cell in ends) for ends in lines} == lines


@every_game
def test_canonical_position_is_the_least_of_its_orbit(game):
    """All members of an orbit have the same canonical position, and orbit and stabiliser multiply to the group."""
    for position in positions_met(game, 30):
        orbit = game.orbit(position)
        canonical, symmetry = game.to_canonical(position)
        assert position in orbit
        assert game.encode(canonical) == min(map(game.encode, orbit))
        assert game.transform(position, symmetry) == canonical
        assert {game.canonical(image) for image in orbit} == {canonical}
        assert len(orbit) * len(game.stabiliser(position)) == len(game.symmetries)


@every_game
def test_rules_are_invariant_under_symmetries(game):
    for position in positions_met(game, 20):
        for symmetry in game.symmetries:
            image = game.transform(position, symmetry)
            assert game.outcome(image) == game.outcome(position)
            assert game.side_to_move(image) == game.side_to_move(position)
            assert game.ply(image) == game.ply(position)
            assert game.transform(image, game.inverses[symmetry]) == position
            for cell, piece in enumerate(game.pieces(position)):
                assert game.pieces(image)[symmetry.cells[cell]] == piece
            assert set(game.presentation.winning_cells(image)) == {
                symmetry.cells[c] for c in game.presentation.winning_cells(position)
            }
            moves = {move: game.transform_move(move, symmetry) for move in game.legal_moves(position)}
            assert set(moves.values()) == set(game.legal_moves(image))
            for move, image_move in moves.items():
                assert game.path(image_move) == tuple(symmetry.cells[cell] for cell in game.path(move))
                assert game.apply(image, image_move) == game.transform(game.apply(position, move), symmetry)


def test_false_symmetry_fails():
    """The turns of a square are no symmetries of hexapawn, whose pawns have a direction."""
    game = Hexapawn(3, 3)
    game.symmetries = SYMMETRIES
    with pytest.raises(AssertionError):
        test_rules_are_invariant_under_symmetries(game)


@every_game
def test_distinct_moves_are_orbits_of_the_stabiliser(game):
    """Moves of one class lead to the same canonical position; each legal move belongs to exactly one class."""
    for position in positions_met(game, 30):
        classes = game.distinct_moves(position)
        legal = game.legal_moves(position)
        assert sorted(legal.index(move) for members in classes for move in members) == list(range(len(legal)))
        first_indices = [legal.index(members[0]) for members in classes]
        assert first_indices == sorted(first_indices)
        for members in classes:
            assert list(members) == sorted(members, key=legal.index)
            images = {game.transform_move(members[0], symmetry) for symmetry in game.stabiliser(position)}
            assert images == set(members)
            assert len({game.canonical(game.apply(position, move)) for move in members}) == 1


@every_game
def test_layout_has_a_place_for_every_cell(game):
    layout = game.presentation.layout
    assert layout.shape in {"square", "hex", "point"}
    assert bool(layout.lines) == (layout.shape == "point")
    assert all(len({*ends}) == 2 and {*ends} <= set(range(len(layout.cells))) for ends in layout.lines)
    assert len(set(layout.roles)) == len(set(layout.role_names)) == 2
    for field in ("id", "name", "mark"):
        assert len({getattr(cell, field) for cell in layout.cells}) == len(layout.cells)
    assert len({(cell.x, cell.y) for cell in layout.cells}) == len(layout.cells)
    for cell in layout.cells:
        assert 0 < cell.x < layout.columns
        assert 0 < cell.y < layout.rows


@every_game
def test_every_position_and_move_has_a_picture_and_words(game):
    n_cells = len(game.presentation.layout.cells)
    for position in positions_met(game, 50):
        assert len(game.pieces(position)) == n_cells
        winning = game.presentation.winning_cells(position)
        assert set(winning) <= set(range(n_cells))
        assert not winning or game.is_terminal(position)
        legal = game.legal_moves(position)
        beads = [game.presentation.bead(position, move) for move in legal]
        assert len(set(beads)) == len(beads)
        for move, bead in zip(legal, beads, strict=True):
            path = game.path(move)
            assert path
            assert set(path) <= set(range(n_cells))
            assert 0 <= bead.colour < 9
            assert bead.mark
            assert all(
                game.presentation.layout.cells[cell].name in game.presentation.describe_move(move) for cell in path
            )


@registered_game
def test_rules_page_gives_the_counts(game):
    """Each family has a page of rules, and the page has the counts of every listed game of the family."""
    page = ROOT / "docs" / "rules" / f"{game.family}.md"
    assert page.exists(), f"write {page.relative_to(ROOT)}"
    facts = facts_of(game)
    for count in filter(None, (facts["positions"], facts["classes"])):
        assert f"{count['all']:,}" in page.read_text()


@registered_game
def test_each_game_is_named_in_a_test_of_its_own(game):
    folder = type(game).__module__.split(".")[2]
    texts = [
        file.read_text() for file in Path(__file__).parent.glob("test_*.py") if file.name not in TEST_FILES_OF_ALL_GAMES
    ]
    names = (f'"{game.slug}"', f'"{game.family}"', f"beadbox.rules.{folder}.")
    assert any(name in text for text in texts for name in names), "write tests/beadbox/rules/test_<game>.py"


@every_game
def test_facts_are_recorded(game):
    """``tests/beadbox/test_facts.py`` checks the numbers."""
    assert facts_file(game).parent == Path(str(sys.modules[type(game).__module__].__file__)).parent
    assert facts_file(game).exists(), f"manage.py record_facts {game.slug}"
    assert facts_of(game)["why_unlisted"] == (None if game.listable else game.why_unlisted)


@every_game
def test_flags_of_endless_play_agree(game):
    assert game.ply_limit > 0
    assert game.endless_winner is None or not game.always_ends
    assert game.supports_boxes or not game.listable, "a machine can have a box for each position of a list"


@every_game
def test_game_that_always_ends_has_no_loops(game):
    """Building the graph fails if positions can return; ``test_cabinet.py`` tests this with a false game."""
    if game.listable and game.always_ends:
        assert len(graph_compile(game, reduced=True).positions) > 1


@every_game
def test_role_names_fit_into_sentences(game):
    """The names follow words such as "a win for", so they have no article and no full stop."""
    for name in game.presentation.layout.role_names:
        assert name == name.strip()
        assert name.partition(" ")[0].lower() not in {"the", "a", "an"}
        assert not name.endswith(".")
