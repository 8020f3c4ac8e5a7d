"""Levels with a learnt value, ladders and ratings: the published figures can be measured again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from beadbox.engines.ladder import LadderMeasurement, Pair, ladders_format, ladders_read
from beadbox.engines.registry import ENGINES, engine_of
from beadbox.engines.romgon.levels import LADDER_FILE, LADDER_GAMES, LEVELS, VALUER, answer, choose, learnt_fingerprint
from beadbox.engines.romgon.shipped import shipped_value
from beadbox.engines.romgon.value_minimax import ReadableValuer
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.memory import compiled_meeting
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, family_games
from beadbox.rules.romgon.moves import CORE, Options
from beadbox.rules.romgon.pieces import BLACK, START
from beadbox.rules.romgon.rules import Position, Romgon
from beadbox.strength.elo import Elo, Score, elos
from beadbox.strength.snapshots import measure_openings, meeting, openings
from beadbox.tournaments import ladder

ENGINE = ENGINES["romgon"]
LEARNT_LEVELS = [slug for slug, level in LEVELS.items() if level.uses_learnt_value]
FLIPS = Options(flip=True)
each_mode = pytest.mark.parametrize("mode", LADDER_GAMES)


def romgon(mode: str) -> Romgon:
    game = GAMES[LADDER_GAMES[mode]]
    assert isinstance(game, Romgon)
    return game


class TestElo:
    def test_ten_points_of_eleven_are_400(self) -> None:
        found = elos(["a", "b"], [Score("b", "a", 10_000, 11_000)])
        assert found["a"].elo == 0
        assert found["b"].elo == pytest.approx(400, abs=1)

    def test_the_likelihood_is_greatest_at_the_ratings(self) -> None:
        scores = [
            Score("b", "a", 61, 100),
            Score("c", "b", 70.5, 100),
            Score("c", "a", 88, 120),
            Score("d", "c", 40, 40),
        ]
        found = elos("abcd", scores)
        rating = {name: one.elo for name, one in found.items()}
        for name in "bcd":  # the expected points equal the points scored; each meeting has one additional draw
            own_scores = [score for score in scores if name in (score.one, score.other)]
            points_with_draws = sum(0.5 + (points if one == name else n - points) for one, _, points, n in own_scores)
            gaps = [(rating[name] - rating[other if one == name else one], n + 1) for one, other, _, n in own_scores]
            assert sum(n / (1 + 10 ** (-gap / 400)) for gap, n in gaps) == pytest.approx(points_with_draws, abs=0.2)

    def test_the_interval_shrinks_with_the_root_of_the_games(self) -> None:
        few, many = (elos("ab", [Score("b", "a", 0.6 * n, n)])["b"] for n in (100, 10_000))
        assert (few.high - few.low) / (many.high - many.low) == pytest.approx(10, rel=0.05)
        # By hand: the width is 1.96 standard errors of the rating gap, since each player carries half of it.
        gap = 1.96 * 400 / np.log(10) / np.sqrt(101 * 0.6 * 0.4)
        assert few.high - few.low == pytest.approx(gap, abs=2)
        assert few.low < few.elo < few.high


class TestRecordedLadder:
    @each_mode
    def test_each_level_beats_the_level_below(self, mode: str) -> None:
        found, game = ladders_read(LADDER_FILE)[mode], romgon(mode)
        pairs = {(pair.strong, pair.weak): pair for pair in found.pairs}
        near = ladder.neighbours(ENGINE, game)
        assert len(near) >= 5
        for pair in map(pairs.__getitem__, near):
            assert pair.games == ladder.N_NEIGHBOURS == 400
            assert pair.points / pair.games >= 0.65

    @each_mode
    def test_ratings_follow_from_the_recorded_pairs(self, mode: str) -> None:
        found, game = ladders_read(LADDER_FILE)[mode], romgon(mode)
        assert [(pair.strong, pair.weak) for pair in found.pairs] == ladder.all_pairs(ENGINE, game)
        assert ladder.rate_levels(list(LEVELS), found.pairs) == found.ratings
        assert found.game == game.slug
        games = {"near": found.conditions["games_of_neighbours"], "far": found.conditions["games_of_others"]}
        now = {**ladder.conditions(ENGINE, game, **games), "learnt": found.conditions["learnt"]}
        assert found.conditions == now  # ``make bench`` checks whether these are the shipped values
        assert len(learnt_fingerprint(game)) == len(found.conditions["learnt"]) == 16

    @each_mode
    def test_a_pair_can_be_measured_again(self, mode: str) -> None:
        found, game = ladders_read(LADDER_FILE)[mode], romgon(mode)
        strong, weak = "medium", {"plain": "novice", "flips": "starter"}[mode]
        [pair] = ladder.measure_pairs(ENGINE, game, [(strong, weak)], near=400, far=0)
        assert pair in found.pairs

    @each_mode
    def test_top_level_beats_the_middle_from_other_openings(self, mode: str) -> None:
        game = romgon(mode)
        [pair] = ladder.measure_pairs(ENGINE, game, [("veteran", "skilled")], near=40, far=0, seed=77)
        assert pair.points / pair.games >= 0.65

    def test_hard_is_not_above_medium_where_it_loses_to_medium(self) -> None:
        ratings = ladders_read(LADDER_FILE)["flips"].ratings
        assert ratings["hard"].elo < ratings["medium"].elo
        assert all("hard" not in [entry.level.slug for entry in ENGINE.ladder(game)] for game in family_games("romgon"))

    @pytest.mark.parametrize("game", family_games("romgon"), ids=lambda game: game.slug)
    def test_ratings_are_only_for_games_with_measurements(self, game: Romgon) -> None:
        entries = ENGINE.ladder(game)
        ratings = [entry.rating for entry in entries if entry.rating is not None]
        assert len(ratings) == (len(entries) if game.slug in LADDER_GAMES.values() else 0)
        assert ratings == sorted(ratings)
        assert all(entry.level.suitable_for for entry in entries)

    def test_a_written_ladder_is_read_back(self, tmp_path: Path) -> None:
        rating = {"easy": Elo(0, -9, 9), "hard": Elo(200, 190, 210)}
        one = LadderMeasurement("romgon", {"seed": 3}, rating, [Pair("hard", "easy", 3, 1, 0)])
        file = tmp_path / "ladder.json"
        file.write_text(ladders_format({"plain": one, "flips": one}))
        assert ladders_read(file) == {"plain": one, "flips": one}
        assert LADDER_FILE.read_text() == ladders_format(ladders_read(LADDER_FILE))

    def test_a_command_writes_the_ladder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        few = [("medium", "easy"), ("novice", "easy")]
        monkeypatch.setattr(ladder, "all_pairs", lambda engine, game: few)
        monkeypatch.setattr(
            type(ENGINE), "levels", {slug: LEVELS[slug] for slug in ("easy", "novice", "starter", "medium")}
        )
        monkeypatch.setattr(type(ENGINE), "ladder", lambda self, game: [])
        few += [("starter", "easy")]
        call_command("measure_ladders", near=2, far=2, file=tmp_path / "it.json")
        written = ladders_read(tmp_path / "it.json")
        assert set(written) == set(LADDER_GAMES)
        assert [pair.games for pair in written["flips"].pairs] == [2, 2, 2]
        assert "plain: medium against easy: " in capsys.readouterr().out


class TestLearntLevels:
    @pytest.mark.parametrize("slug", LEARNT_LEVELS)
    @each_mode
    def test_compiled_contests_play_as_live_matches_do(self, slug: str, mode: str) -> None:
        game = romgon(mode)
        played = openings(game, 1, seed=4)
        readable = meeting(game, OPPONENTS[slug], OPPONENTS["skilled"])
        compiled = compiled_meeting(game, LEVELS[slug], LEVELS["skilled"])
        assert measure_openings(readable, played, seed=5) == measure_openings(compiled, played, seed=5)

    @pytest.mark.parametrize("options", [CORE, FLIPS], ids=LADDER_GAMES)
    def test_the_five_best_are_exact_and_the_first_is_played(self, options: Options) -> None:
        found = answer(START, BLACK, options, level=LEVELS["champion"], rng=RandomSource(1))
        value = shipped_value("flips" if options.flip else "plain")._replace(depth=2)
        look = ReadableValuer().search(Romgon(options), Position(START, BLACK), value, whole=True)
        ranked = sorted(zip(look.moves, look.deep, strict=True), key=lambda one: -one[1])
        assert [(one.move, one.value) for one in found.candidates] == [
            (move, round(score, 4)) for move, score in ranked[:5]
        ]
        assert (found.chosen, found.depth) == (found.candidates[0], 2)

    def test_search_out_of_time_returns_the_last_finished_depth(self) -> None:
        level = LEVELS["legend"]
        hurried = answer(START, BLACK, FLIPS, level=level, rng=RandomSource(1), time_limit_s=0)
        assert 1 <= hurried.depth < 4
        at_leisure = [
            answer(START, BLACK, FLIPS, level=level, rng=RandomSource(1), time_limit_s=s) for s in (None, 600)
        ]
        assert at_leisure[0] == at_leisure[1]
        assert at_leisure[0].depth == 4

    def test_skilled_plays_a_random_move_in_three_of_ten(self) -> None:
        game, start = romgon("plain"), romgon("plain").initial_position()
        best = choose(game, start, level=LEVELS["veteran"], rng=RandomSource(1))
        rng = RandomSource(2)
        share = sum(choose(game, start, level=LEVELS["skilled"], rng=rng) == best for _ in range(600)) / 600
        assert share == pytest.approx(0.7 + 0.3 / 13, abs=0.06)

    @pytest.mark.parametrize("game", family_games("romgon"), ids=lambda game: game.slug)
    def test_learnt_levels_are_offered_only_in_their_games(self, game: Romgon) -> None:
        engine = engine_of(game)
        assert engine is not None
        is_offered = {engine.supports_level(game, LEVELS[slug]) for slug in LEARNT_LEVELS}
        assert is_offered == {not VALUER.refusal(game)} == {not {"turn", "shape"} & set(game.added)}
        assert all(engine.supports_level(game, level) for level in LEVELS.values() if not level.uses_learnt_value)


def test_the_documents_contain_the_ladders() -> None:
    text = (Path(__file__).parents[2] / "docs" / "ladder.md").read_text()
    for found in json.loads(LADDER_FILE.read_text()).values():
        for slug, (elo, low, high) in found["ratings"].items():
            assert f"| `{slug}` | {elo} ({low} to {high}) |" in text


def test_sides_are_exchanged() -> None:
    sides: list[Side] = []

    def note_side(opening, side, rng):
        sides.append(side)
        return compiled_meeting(romgon("plain"), LEVELS["medium"], LEVELS["easy"])(opening, side, rng)

    measure_openings(note_side, openings(romgon("plain"), 2, seed=1), seed=1)
    assert sides == [Side.FIRST, Side.SECOND] * 2
