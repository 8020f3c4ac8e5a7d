"""The readiness of compiled kernels, for work that waits for them (docs/decisions/0110-plain-kernels.md)."""

from __future__ import annotations

from beadbox.engines.registry import engine_of
from beadbox.kernels.jit import PACKAGES, Readiness
from beadbox.rules.registry import GAMES

MAX_PLAIN_GAMES = 20_000
"""Number of games that plain Python plays in a second. A training or pairing of more waits for compiled kernels."""


def kernels_ready() -> bool:
    """Whether the kernels of boxes and tables run compiled."""
    return PACKAGES["beadbox.kernels"].readiness() is Readiness.READY


def kernels_compiling() -> bool:
    """Whether the kernels of boxes and tables run as plain Python until another process has compiled them."""
    return PACKAGES["beadbox.kernels"].readiness() is Readiness.COMPILING


def games_compiling() -> list[str]:
    """Return the slugs of the games with an engine that is being compiled."""
    engines = {slug: engine_of(game) for slug, game in GAMES.items()}
    return [slug for slug, engine in engines.items() if engine and engine.readiness() is Readiness.COMPILING]
