"""Golden games, replayed line by line. To add one: ``manage.py record_playthrough GAME --seed N > FILE``."""

from pathlib import Path

import pytest

from beadbox.rules.errors import IllegalMoveError, InvalidMoveError
from beadbox.rules.playthrough import playthrough_lines, random_game
from beadbox.rules.registry import GAMES

PLAYTHROUGHS_FOLDER = Path(__file__).parents[2] / "data" / "playthroughs"
PLAYTHROUGH_FILES = sorted(PLAYTHROUGHS_FOLDER.glob("*/*.txt"))


@pytest.mark.parametrize("slug", GAMES)
def test_every_game_has_a_playthrough(slug):
    assert list((PLAYTHROUGHS_FOLDER / slug).glob("*.txt")), f"record one: manage.py record_playthrough {slug} --seed 1"


@pytest.mark.parametrize(
    "file", PLAYTHROUGH_FILES, ids=[f"{file.parent.name}/{file.stem}" for file in PLAYTHROUGH_FILES]
)
def test_rules_reproduce_the_recorded_game(file):
    recorded = file.read_text(encoding="utf-8").splitlines()
    moves = [line.removeprefix("move: ") for line in recorded if line.startswith("move: ")]
    assert list(playthrough_lines(GAMES[file.parent.name], moves)) == recorded


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_the_seed_determines_a_random_game(game):
    seeds = range(20 if game.listable else 2)
    games = [random_game(game, seed) for seed in seeds]
    assert games == [random_game(game, seed) for seed in seeds]
    assert len(set(map(tuple, games))) > 1
    assert all("outcome:" in list(playthrough_lines(game, moves))[-1] for moves in games)


def test_games_with_illegal_moves_are_refused():
    game = GAMES["noughts-and-crosses"]
    with pytest.raises(InvalidMoveError, match="'centre'"):
        list(playthrough_lines(game, ["centre"]))
    with pytest.raises(IllegalMoveError, match=r"'5' .* '\.\.\.\.X\.\.\.\.'"):
        list(playthrough_lines(game, ["5", "5"]))
