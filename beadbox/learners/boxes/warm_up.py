"""The warm-up of machines with boxes. It calls every kernel with the types of real calls, so that numba compiles it."""

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.population import Population
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.strength import against_opponent, visit_probability, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES


def warm_up() -> tuple[FrozenBoxes, FrozenBoxes]:
    """Train machines with boxes, compute their exact strength, and return the two machines, frozen."""
    game = next(iter(GAMES.values()))
    first, second = (Memory.fresh(boxes_compile(game, side, BoxRule())) for side in Side)
    rng = RandomSource(1)
    first.train(OPPONENTS["random"], 1, rng)
    first.train_against(second, 1, rng, opponent_learns=True)
    populations = [Population.fresh(memory.table, [rng]) for memory in (first, second)]
    populations[0].train(OPPONENTS["random"], [1], [OPPONENTS["random"]], worst=True)
    populations[0].train_against(populations[1], [1])
    against_opponent(first, OPPONENTS["random"])
    worst_case(first)
    visit_probability(first, OPPONENTS["random"])
    return FrozenBoxes(first), FrozenBoxes(second)
