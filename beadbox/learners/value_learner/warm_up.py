"""The warm-up of value learners, which compiles their kernels.

numba compiles a kernel at its first call with certain types of arguments. So :func:`warm_up` calls every kernel with
the types of real calls.
"""

from beadbox.engines.position_values import LearntPlayer
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.learner import valuer_of, zero_weights
from beadbox.learners.value_learner.memory import ValueMemory, compiled_meeting
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES


def warm_up() -> None:
    """Train a value learner with one game, let it choose a move, play one contest, and compute features."""
    rule = ValueRule(random_opening=0)
    game = next(game for game in GAMES.values() if rule.fits(game))
    memory, rng = ValueMemory.load(game, rule, zero_weights(game, rule)), RandomSource(1)
    memory.train_against(memory, 1, rng, opponent_learns=True)
    memory.machine.choose(game.initial_position())
    player = LearntPlayer(memory.machine.played, 1)
    compiled_meeting(game, player, player)((), Side.FIRST, rng)
    valuer_of(game).features(game.initial_position(), rule.features)
