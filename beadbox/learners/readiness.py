"""What waits while kernels are being compiled (docs/decisions/0110-plain-kernels.md)."""

from __future__ import annotations

from beadbox.engines.registry import engine_of
from beadbox.kernels.jit import PACKAGES, Readiness
from beadbox.rules.registry import GAMES

MAX_PLAIN_GAMES = 20_000
"""A training, or a pairing, of more games waits for the compiled kernels: plain Python plays so many in a second."""


def kernels_ready() -> bool:
    """Whether the kernels of boxes and tables run compiled."""
    return PACKAGES["beadbox.kernels"].readiness() is Readiness.READY


def kernels_compiling() -> bool:
    """Whether they run as plain Python, and will not for long."""
    return PACKAGES["beadbox.kernels"].readiness() is Readiness.COMPILING


def games_compiling() -> list[str]:
    """The games whose engine is being compiled, by slug."""
    engines = {slug: engine_of(game) for slug, game in GAMES.items()}
    return [slug for slug, engine in engines.items() if engine and engine.readiness() is Readiness.COMPILING]
