"""A machine's progress: after every game each figure follows exactly from the beads."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache

from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.accounts.principal import Visitor
from games.models import Match
from learning.kinds.boxes.progress import (
    MAX_CURVE_LESSONS,
    CurveStrength,
    _move_phrase,
    format_hundredths,
    no_loss_sentences,
    points_sentences,
    progress,
)
from learning.kinds.machines import machine_export
from learning.models import Machine
from learning.services.machines import machine_import, machine_reset
from learning.services.personal_machines import personal_machine_play
from tests.factories import NC, api_with, guest, machine, machine_strength, play_out, trained_machine

pytestmark = pytest.mark.django_db


def chance_not_to_lose(learner: Machine) -> float:
    """Return the chance not to lose against perfect play, computed as on the page."""
    perfect = machine_strength(Machine.objects.get(pk=learner.pk))["perfect"]
    return float(perfect["win"] + perfect["draw"])


def play_matches(n_games: int, side: Side = Side.FIRST, game: str = NC) -> tuple[Machine, list[float]]:
    """Play ``n_games`` matches. Return the machine and its chance not to lose before the first and after each."""
    chances: list[float] = []
    learner: Machine | None = None
    for _ in range(n_games):
        seated = personal_machine_play(person=guest(), game=game, side=side)
        learner = Machine.objects.get(pk=int(seated.room.machine))
        chances = chances or [chance_not_to_lose(learner)]
        play_out(seated.room.code, guest())
        chances.append(chance_not_to_lose(learner))
    assert learner is not None
    return Machine.objects.get(pk=learner.pk), chances


@pytest.mark.parametrize("side", list(Side))
def test_the_curve_has_the_exact_strength_after_every_game(side: Side) -> None:
    learner, chances = play_matches(4, side)
    view = progress(learner)
    assert view["curve"] == [[games, pytest.approx(share, abs=1e-12)] for games, share in enumerate(chances)]
    assert view["holds"] == view["curve"][-1][1]
    cache.clear()
    assert progress(learner)["curve"] == view["curve"]  # computed from the ledger, not from the cache
    assert (view["games"], sum(view["latest"].values())) == (4, 4)  # type: ignore[arg-type]  # all values are numbers
    assert view["words"].startswith("It has played 4 games. It won ")
    assert f"avoid losing in {format_hundredths(chances[-1])} of 100 games" in view["curve_words"]
    assert format_hundredths(chances[0]) in view["curve_words"]
    random = machine_strength(learner)["random"]
    assert view["points"] == view["points_curve"][-1][1] == pytest.approx(random["win"] + random["draw"] / 2, abs=1e-12)
    assert [games for games, _ in view["points_curve"]] == [0, 1, 2, 3, 4]
    assert f"get {format_hundredths(view['points'])} points in 100 games" in view["points_words"]
    assert [view["results"].count(one) for one in ("win", "draw", "loss")] == list(view["latest"].values())


def test_one_match_is_described() -> None:
    learner, _ = play_matches(1)
    view = progress(learner)
    assert re.match(r"It has played 1 game\. It (won|drew|lost) its last match\. ", view["words"])
    box = view["first_box"]
    assert box is not None
    assert (box["before"], [slot["mark"] for slot in box["slots"]]) == ([4, 4, 4], ["A", "B", "E"])
    assert sum(a != b for a, b in zip(box["before"], box["now"], strict=True)) == 1


def test_the_last_ten_results_are_listed_in_order() -> None:
    learner, _ = play_matches(11)
    winners = [match.winner for match in Match.objects.order_by("pk") if match.is_over][-10:]
    names = {None: "draw", Side.FIRST: "win", Side.SECOND: "loss"}
    assert progress(learner)["results"] == [names[winner] for winner in winners]


START_STRENGTH, LATER_STRENGTH = CurveStrength(0.61, 0.24), CurveStrength(0.66, 0.19)


@pytest.mark.parametrize(
    ("results", "explanation"),
    [
        (["win"] * 8 + ["loss"] * 2, "It won against you with moves that a perfect player would punish."),
        (["loss"] * 3, "It lost against you, so it took out beads of moves that are safe against a perfect player."),
    ],
)
def test_a_fall_is_explained(results: list[str], explanation: str) -> None:
    sentence = no_loss_sentences(" against you", results, [(0, START_STRENGTH), (10, LATER_STRENGTH)])
    fall_text = "Against a perfect player it would avoid losing in 19 of 100 games. It was 24 before its first game."
    assert sentence == f"{fall_text} {explanation}"
    assert "punish" not in no_loss_sentences("", results, [(0, LATER_STRENGTH), (10, START_STRENGTH)])
    rise_text = points_sentences("", results, [(0, START_STRENGTH), (10, LATER_STRENGTH)])
    assert rise_text == "Against random play it would get 66 points in 100 games. It was 61 before its first game."
    assert (
        "random play." in points_sentences("", results, [(0, LATER_STRENGTH), (10, START_STRENGTH)]).partition(". ")[2]
    )
    assert "every game" in no_loss_sentences("", results, [(0, CurveStrength(0.6, 0.0)), (10, CurveStrength(0.7, 0.0))])


def test_progress_of_an_untaught_machine() -> None:
    seated = personal_machine_play(person=guest(), game=NC)
    learner = Machine.objects.get(pk=int(seated.room.machine))
    view = progress(learner)
    words = "It has not finished a game yet. At the start it draws each kind of bead equally often."
    assert view["words"] == words
    assert view["first"] == {"after": "", "move": "top left", "chance": pytest.approx(1 / 3)}
    assert [games for games, _ in view["curve"]] == [0]
    assert view["curve_words"] == "Against a perfect player it would avoid losing in 24 of 100 games."


@pytest.mark.parametrize(
    ("moves", "chances", "words"),
    [
        (
            [("top middle", "B"), ("middle left", "B")],
            [8 / 18, 6 / 18, 4 / 18],
            "draws bead B (such as top middle) in 44 of",
        ),
        ([("b2", "C")], [0.75, 0.25], "draws bead C (b2) in 75 of 100 games"),
        ([("b2", "C")], [1.0, 0.0], "always chooses b2"),
        ([("top left", "A"), ("top right", "A")], [1.0, 0.0], "always draws bead A (such as top left)"),
        ([("b2", None)], [1.0], "always chooses b2"),
    ],
)
def test_its_first_bead_is_named_with_a_move_that_it_stands_for(
    moves: list[tuple[str, str | None]], chances: list[float], words: str
) -> None:
    assert _move_phrase([{"name": name, "mark": mark} for name, mark in moves], chances).startswith(words)


def test_reset_clears_the_curve() -> None:
    learner, chances = play_matches(2)
    machine_reset(user=Visitor(UUID(int=1)), machine_id=learner.pk)
    learner.refresh_from_db()
    view = progress(learner)
    assert view["curve"] == [[0, pytest.approx(chances[0], abs=1e-12)]]


def test_curve_of_much_training_is_short_and_ends_at_the_last() -> None:
    learner = trained_machine(machine(Side.FIRST), 2000)
    view = progress(learner)
    assert 2 <= len(view["curve"]) <= MAX_CURVE_LESSONS + 2
    assert view["curve"][-1] == [2000, pytest.approx(chance_not_to_lose(learner), abs=1e-12)]
    assert view["words"].startswith("It has played 2,000 games. At the start it ")


def test_progress_of_an_imported_machine() -> None:
    one = trained_machine(machine())
    imported_machine = machine_import(user=None, content=machine_export(one).text.encode()).machine
    view = progress(imported_machine)
    assert view["games"] == imported_machine.n_games > 0
    assert view["curve"] == [[imported_machine.n_games, pytest.approx(progress(one)["holds"])]]


def test_progress_covers_any_size_and_refuses_other_kinds() -> None:
    """Machines without boxes have no progress of this kind."""
    for slug in ("hexapawn", "hexapawn-5x4"):
        learner = machine_after_match(slug)
        view = progress(learner)
        assert view["games"] == 1
        assert (view["holds"] is None) == (not game_get(slug).listable)
    from learning.services.machines import machine_create

    other: Any = machine_create(game="romgon", side=None, name="Q", preset="romgon-q-careful")
    answer = api_with(None).get(f"/api/machines/{other.pk}/progress")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_boxes")


def machine_after_match(game: str) -> Machine:
    seated = personal_machine_play(person=guest(), game=game, side=Side.SECOND)
    play_out(seated.room.code, guest())
    return Machine.objects.get(pk=int(seated.room.machine))


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0"), (1e-9, "less than 1"), (0.37, "37"), (0.999, "more than 99"), (1.0, "100")],
)
def test_shares_are_0_or_100_percent_only_exactly(share: float, words: str) -> None:
    assert format_hundredths(share) == words
