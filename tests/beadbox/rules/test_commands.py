"""The operator's commands of the rules. They are thin wrappers, so a few checks are enough."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from beadbox.rules.playthrough import playthrough_lines, random_game
from beadbox.rules.registry import GAMES


def output_of(*arguments):
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().splitlines()


def test_perft_prints_each_first_move_and_the_sum():
    lines = output_of("perft", "noughts-and-crosses", "3")
    assert lines == [*(f"{square}: 56" for square in range(1, 10)), "504"]


def test_perft_begins_at_the_given_position():
    assert output_of("perft", "noughts-and-crosses", "XX.OO....", "1")[-1] == "5"
    assert output_of("perft", "noughts-and-crosses", "XX.OO....", "0") == ["1"]


def test_perft_counts_a_game_of_a_family_with_options():
    assert output_of("perft", "romgon", "2")[-1] == "167"
    assert output_of("perft", "romgon-flip", "2")[-1] == "398"
    assert output_of("perft", "romgon", "S4s.T5t.C6h.R7r.H6c.T5t.S4s-w0", "2")[-1] == "167"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("noughts-and-crosses", "XXX......", "1"), "'XXX......' has 3 crosses"),
        (("noughts-and-crosses", "--", "-1"), "negative"),
        (("noughts-and-crosses", "deep"), "invalid int value: 'deep'"),
        (("go", "1"), "'go'"),
    ],
)
def test_perft_refuses_invalid_arguments(arguments, problem):
    with pytest.raises(CommandError, match=problem):
        call_command("perft", *arguments)


@pytest.mark.parametrize("slug", GAMES)
def test_record_playthrough_prints_the_golden_text(slug):
    game = GAMES[slug]
    assert output_of("record_playthrough", slug, "--seed", "7") == list(playthrough_lines(game, random_game(game, 7)))
