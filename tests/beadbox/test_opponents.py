"""The moves of the fixed opponents."""

import pytest

from beadbox.engines import registry
from beadbox.engines.engine import Engine
from beadbox.engines.level import Level
from beadbox.engines.registry import engine_of
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.episodes import play_episode
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.rule import BoxRule
from beadbox.policies.engine import EngineOpponent
from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.perfect import ENDLESS_PLIES, move_values, solve
from beadbox.policies.registry import ENGINES, OPPONENTS, UNIFORM, opponent_at, opponent_usual, opponents_offered
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES, family_games
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME
from tests.beadbox.naive import chances, minimax, uniform_reply_chances
from tests.beadbox.rules.walks import reachable


@pytest.fixture(scope="module")
def positions():
    return [position for position in reachable(GAME) if not GAME.is_terminal(position)]


def reply_squares(opponent, text):
    return "".join(map(GAME.format_move, UNIFORM[opponent].replies(GAME, GAME.decode(text))))


def test_registry_lists_opponents_in_order():
    assert list(UNIFORM) == ["random", "win-block", "perfect", "perfect-fast"]
    levels_by_rules = ["easy", "starter", "novice", "beginner", "medium", "hard", "expert", "master"]
    assert list(ENGINES) == [*levels_by_rules, "skilled", "veteran", "champion", "grandmaster", "legend"]
    assert {**UNIFORM, **ENGINES} == OPPONENTS
    assert all(opponent.slug == slug for slug, opponent in OPPONENTS.items())
    assert all(opponent.name and opponent.summary.endswith(".") for opponent in OPPONENTS.values())


ROMGON_GAMES = family_games("romgon")


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_opponents_offered_depend_on_the_game(game):
    levels = {level: opponent_at(level, game) for level in ("easy", "medium", "hard", "expert", "master")}
    playing = [slug for slug, opponent in OPPONENTS.items() if opponent.plays(game)]
    offered = [one.opponent.slug for one in opponents_offered(game)]
    if game in ROMGON_GAMES:
        engine = engine_of(game)
        assert levels == {level: ENGINES[level] for level in levels}
        assert playing == [
            "random",
            *(slug for slug, level in engine.levels.items() if engine.supports_level(game, level)),
        ]
        assert offered == [ladder_entry.level.slug for ladder_entry in engine.ladder(game)]
        assert set(offered) <= set(playing)
        assert opponent_usual(game).slug in {"novice", "starter"} & set(offered), "a beginner can beat it"
        assert all(one.suitable_for for one in opponents_offered(game))
    else:
        small = list(UNIFORM) if game.listable else ["random", "win-block"]
        names = [opponent and opponent.slug for opponent in levels.values()]
        assert names == ["random", "win-block", "perfect" if game.listable else None, None, None]
        assert playing == offered == small
        assert opponent_usual(game).slug == "win-block"


def uniform_opponents(base=UniformOpponent):
    """Yield every class of opponents that are compiled onto the canonical graph, including those of experiments."""
    for opponent_class in base.__subclasses__():
        if opponent_class.__module__.startswith("beadbox."):
            yield opponent_class
        yield from uniform_opponents(opponent_class)


assert EXPERIMENTS, "importing the experiments also defines their opponents"
LISTED_GAMES = [game for game in GAMES.values() if game.listable]
OPPONENTS_WITH_GAMES = [
    (opponent_class, game)
    for opponent_class in uniform_opponents()
    for game in LISTED_GAMES
    if opponent_class().plays(game)
]


@pytest.mark.parametrize(("opponent_class", "game"), OPPONENTS_WITH_GAMES, ids=lambda one: one.slug)
def test_canonical_opponents_are_equivariant(opponent_class, game):
    opponent = opponent_class()
    to_move = [position for position in reachable(game) if not game.is_terminal(position)]
    replies = {position: set(opponent.replies(game, position)) for position in to_move}
    for position, moves in replies.items():
        for symmetry in game.symmetries:
            image = game.transform(position, symmetry)
            assert replies[image] == {game.transform_move(move, symmetry) for move in moves}, position


class OtherEngine(Engine):
    """An engine of another family with a level named like one of Romgon's."""

    levels = {"hard": Level("hard", "Hard", "Plays the first move.", 1)}

    def choose(self, game, position, *, level, rng):
        assert level is self.levels["hard"]
        return game.legal_moves(position)[0]

    best = entries = keys = key_board = entry_read = entry_problem = None


def test_two_engines_may_have_levels_with_the_same_name(monkeypatch):
    monkeypatch.setitem(registry.ENGINES, GAME.family, OtherEngine())
    hard = EngineOpponent("hard")
    assert all(hard.plays(game) for game in (GAME, *ROMGON_GAMES))
    start = GAME.initial_position()
    assert hard.choose(GAME, start, RandomSource(1)) == GAME.legal_moves(start)[0]
    romgon = ROMGON_GAMES[0]
    assert hard.choose(romgon, romgon.initial_position(), RandomSource(1)) in romgon.legal_moves(
        romgon.initial_position()
    )
    assert not EngineOpponent("medium").plays(GAME)


@pytest.mark.parametrize("game", ROMGON_GAMES, ids=lambda game: game.slug)
@pytest.mark.parametrize("slug", [slug for slug, engine in ENGINES.items() if not engine.is_slow])
@pytest.mark.sampled(4)
def test_an_engine_plays_legal_moves_from_its_random_source(slug, game):
    source, twin, position = RandomSource(3), RandomSource(3), game.initial_position()
    while position.ply < 12 and not game.is_terminal(position):
        if not ENGINES[slug].plays(game):
            assert set(game.added) & {"turn", "shape"}, "no level has learnt these games"
            return
        move = ENGINES[slug].choose(game, position, source)
        assert move == ENGINES[slug].choose(game, position, twin)
        position = game.play(position, move)
    assert [engine.slug for engine in ENGINES.values() if engine.is_slow] == ["expert", "master"]


@pytest.mark.parametrize("slug", UNIFORM)
def test_replies_are_legal_in_order_and_the_same_up_to_symmetry(slug, positions):
    opponent = UNIFORM[slug]
    for position in positions:
        replies = opponent.replies(GAME, position)
        assert replies
        assert list(replies) == [move for move in GAME.legal_moves(position) if move in replies]
        for symmetry in GAME.symmetries[1::3]:
            image = opponent.replies(GAME, GAME.transform(position, symmetry))
            assert {GAME.transform_move(move, symmetry) for move in replies} == set(image)


def test_a_reply_takes_one_random_word():
    source, twin = RandomSource(4), RandomSource(4)
    assert UNIFORM["random"].choose(GAME, GAME.initial_position(), source) == twin.below(9)
    assert source.words == twin.words


def test_random_plays_each_legal_move():
    assert reply_squares("random", "XO.......") == "3456789"


@pytest.mark.parametrize(
    ("text", "replies", "why"),
    [
        (".........", "123456789", "nothing to win or block: anything"),
        ("X...O....", "2346789", "nothing to win or block: anything"),
        ("XX..O....", "3", "it must block"),
        ("XX.OO....", "3", "it wins rather than blocks"),
        ("OO.XX...X", "3", "it wins though it could be beaten"),
        ("XX.XO..O.", "37", "it blocks either of two wins"),
        ("X.XO.OX.O", "25", "it wins in any of several ways"),
        ("XOXXOO...", "7", "it wins rather than blocks with 8"),
    ],
)
def test_win_block(text, replies, why):
    assert reply_squares("win-block", text) == replies, why


def test_win_block_wins_or_blocks_if_possible(positions):
    for position in positions:
        legal = GAME.legal_moves(position)
        side = GAME.side_to_move(position)
        winning = {m for m in legal if is_won(GAME.apply(position, m), side)}
        mark, other = GAME.presentation.layout.roles[side], GAME.presentation.layout.roles[side.other]
        blocking = {m for m in legal if completes_a_line(position, other, m)}
        assert winning == {m for m in legal if completes_a_line(position, mark, m)}
        assert set(UNIFORM["win-block"].replies(GAME, position)) == (winning or blocking or set(legal))


def is_won(position, side):
    outcome = GAME.outcome(position)
    return outcome is not None and outcome.winner is side


def completes_a_line(position, mark, square):
    board = position[:square] + mark + position[square + 1 :]
    rows = [board[0:3], board[3:6], board[6:9], board[0::3], board[1::3], board[2::3], board[0::4], board[2:8:2]]
    return mark * 3 in rows


def test_perfect_plays_every_move_that_keeps_the_value(positions):
    value = minimax(GAME)
    for position in positions:
        best_moves = {m for m in GAME.legal_moves(position) if value(GAME.apply(position, m)) == value(position)}
        assert set(UNIFORM["perfect"].replies(GAME, position)) == best_moves
        sign = 1 if GAME.side_to_move(position) is Side.FIRST else -1
        assert solve(GAME, position)[0] == sign * value(position)


@pytest.mark.parametrize("slug", ["perfect", "perfect-fast"])
@pytest.mark.parametrize("side", Side, ids=["first", "second"])
@pytest.mark.parametrize("other", UNIFORM)
def test_perfect_play_never_loses(slug, side, other):
    win, draw, loss = chances(
        GAME, side, uniform_reply_chances(GAME, UNIFORM[slug]), uniform_reply_chances(GAME, UNIFORM[other])
    )
    assert loss == 0
    assert win + draw == pytest.approx(1, abs=1e-12)
    if other.startswith("perfect"):
        assert draw == pytest.approx(1, abs=1e-12)


def test_only_perfect_fast_prefers_a_shorter_win():
    assert reply_squares("perfect", "XO.X...O.") == "57"
    assert reply_squares("perfect-fast", "XO.X...O.") == "7"


def test_perfect_fast_takes_shortest_win_and_longest_loss(positions):
    for position in positions:
        values = move_values(GAME, position)
        best = max(value for value, _ in values.values())
        lengths = {move: length for move, (value, length) in values.items() if value == best}
        replies = UNIFORM["perfect-fast"].replies(GAME, position)
        if best == 0:
            assert set(replies) == set(lengths)
        else:
            expected = min(lengths.values()) if best > 0 else max(lengths.values())
            assert set(replies) == {move for move, length in lengths.items() if length == expected}


def test_perfect_fast_prefers_a_loss_without_a_number_of_plies():
    """In hare and hounds endless play loses for the hounds."""
    game = GAMES["hare-and-hounds"]
    position = game.decode("..DDD...H..1")
    values = {game.format_move(move): value for move, value in move_values(game, position).items()}
    assert values == {
        **dict.fromkeys(("3-2", "4-7", "5-8"), (-1, 3)),
        **dict.fromkeys(("3-6", "4-6", "5-6"), (-1, ENDLESS_PLIES)),
    }
    replies = UNIFORM["perfect-fast"].replies(game, position)
    assert [game.format_move(move) for move in replies] == ["3-6", "4-6", "5-6"]


def test_plies_to_the_end_assume_fast_wins_and_slow_losses(positions):
    for position in positions:
        value, length = solve(GAME, position)
        replies = [solve(GAME, GAME.apply(position, move)) for move in GAME.legal_moves(position)]
        lengths_of_best = [reply_length for reply_value, reply_length in replies if -reply_value == value]
        assert length == 1 + (max(lengths_of_best) if value < 0 else min(lengths_of_best))


def test_every_opponent_plays_whole_games():
    for opponent in UNIFORM.values():
        for side in Side:
            episode, other = play_episode(BoxMachine(GAME, side, BoxRule()), opponent, RandomSource(2))
            assert episode.result + other.result == 2
            assert other.draws == ()
