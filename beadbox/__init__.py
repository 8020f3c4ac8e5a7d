"""Beadbox: matchbox learning machines, the games that they play, and exact strength.

>>> import beadbox as bb
>>> m = bb.menace(seed=1).train(1_000, against="perfect")
>>> strength = m.strength("perfect")
>>> round(strength.win + strength.draw + strength.loss, 9)
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beadbox.errors import BeadboxError, FileError, PolicyError, UnknownNameError, UnsupportedError
    from beadbox.learners.rule import Rule, RuleError
    from beadbox.policies.given import Policy
    from beadbox.public.episodes import Episode, play
    from beadbox.public.experiments import experiment
    from beadbox.public.games import Game, Solution, games, solve
    from beadbox.public.machines import Box, Machine, her, load, machine, menace, presets
    from beadbox.public.players import Opponent, opponents
    from beadbox.public.strength import BestResponse, best_response, evaluate, exploitability
    from beadbox.public.tournaments import Standings, round_robin, swiss
    from beadbox.public.training_result import TrainingResult
    from beadbox.rules.errors import IllegalMoveError, InvalidPositionError
    from beadbox.rules.outcome import Outcome, Side
    from beadbox.strength.exact import Strength

__version__ = "0.9.0"

_MODULES = {
    "errors": ("BeadboxError", "FileError", "PolicyError", "UnknownNameError", "UnsupportedError"),
    "learners.rule": ("Rule", "RuleError"),
    "policies.given": ("Policy",),
    "public.episodes": ("Episode", "play"),
    "public.experiments": ("experiment",),
    "public.games": ("Game", "Solution", "games", "solve"),
    "public.machines": ("Box", "Machine", "her", "load", "machine", "menace", "presets"),
    "public.players": ("Opponent", "opponents"),
    "public.strength": ("BestResponse", "best_response", "evaluate", "exploitability"),
    "public.tournaments": ("Standings", "round_robin", "swiss"),
    "public.training_result": ("TrainingResult",),
    "rules.errors": ("IllegalMoveError", "InvalidPositionError"),
    "rules.outcome": ("Outcome", "Side"),
    "strength.exact": ("Strength",),
}
_MODULE_OF = {name: f"beadbox.{module}" for module, names in _MODULES.items() for name in names}

__all__ = [
    "BeadboxError",
    "BestResponse",
    "Box",
    "Episode",
    "FileError",
    "Game",
    "IllegalMoveError",
    "InvalidPositionError",
    "Machine",
    "Opponent",
    "Outcome",
    "Policy",
    "PolicyError",
    "Rule",
    "RuleError",
    "Side",
    "Solution",
    "Standings",
    "Strength",
    "TrainingResult",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "best_response",
    "evaluate",
    "experiment",
    "exploitability",
    "games",
    "her",
    "load",
    "machine",
    "menace",
    "opponents",
    "play",
    "presets",
    "round_robin",
    "solve",
    "swiss",
]


def __getattr__(name: str) -> object:
    """Import the module of a public name when the name is first used, so that ``import beadbox`` takes no time."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'beadbox' has no attribute {name!r}")
    found: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
