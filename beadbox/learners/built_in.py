"""The built-in machines, which a new site trains at its first start, and its tournament."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class HouseMachine:
    """A machine that belongs to the site, and its first training."""

    slug: str
    name: str
    description: str
    game: str
    side: Side | None
    """``None`` for a machine that plays either side."""
    preset: str
    opponent: str
    n_games: int
    seed: int


HOUSE: tuple[HouseMachine, ...] = (
    HouseMachine(
        slug="menace-first",
        name="MENACE",
        description="Donald Michie's machine of 1961: 304 matchboxes that begin the game.",
        game="noughts-and-crosses",
        side=Side.FIRST,
        preset="michie-1961",
        opponent="random",
        n_games=50_000,
        seed=1961,
    ),
    HouseMachine(
        slug="menace-second",
        name="MENACE the Second",
        description="The same idea for the other side: 289 matchboxes that answer your first move.",
        game="noughts-and-crosses",
        side=Side.SECOND,
        preset="michie-refill",
        opponent="perfect",
        n_games=50_000,
        seed=1963,
    ),
    # HER starts with few games, so that visitors see her learn: after a few hundred games she no longer loses.
    HouseMachine(
        slug="her",
        name="HER",
        description="Martin Gardner's Hexapawn Educable Robot of 1962. Beat her and see which bead she loses for it.",
        game="hexapawn",
        side=Side.SECOND,
        preset="gardner-her",
        opponent="random",
        n_games=20,
        seed=1962,
    ),
    # The first player loses against good play, so it gets a rule that never runs out of beads for good.
    HouseMachine(
        slug="him",
        name="HIM",
        description="The robot for the other side: 14 matchboxes that begin the game, and forgive more than HER.",
        game="hexapawn",
        side=Side.FIRST,
        preset="michie-refill",
        opponent="random",
        n_games=20,
        seed=1962,
    ),
    # Games of Romgon are long: 100 games take a few seconds, and so does measuring a machine's strength in games.
    HouseMachine(
        slug="romgon-q",
        name="Q",
        description="It keeps a value for every move it has tried, on either side, and learns from every game.",
        game="romgon",
        side=None,
        preset="romgon-q-careful",
        opponent="easy",
        n_games=100,
        seed=1989,
    ),
)
HOUSE_OF: Mapping[tuple[str, Side], HouseMachine] = MappingProxyType(
    {(one.game, side): one for one in HOUSE for side in Side if one.side in (side, None)}
)
"""The built-in machines by game and side; a machine that plays either side stands at both."""


@dataclass(frozen=True, slots=True)
class HouseTournament:
    """The tournament of a new site: a machine of every preset that fits the game, and the fixed opponents."""

    name: str
    game: str
    opponents: tuple[str, str]
    """The teacher of the machines that play first (or either side), and the teacher of those that play second."""
    n_lessons: int
    """Games of training of each machine."""
    n_games: int
    """Games of each pairing of two entries."""
    seed: int


# The training equals that of MENACE and MENACE the Second, which take part as the machines of their presets.
HOUSE_TOURNAMENT = HouseTournament(
    name="Every preset against all others",
    game="noughts-and-crosses",
    opponents=("random", "perfect"),
    n_lessons=50_000,
    n_games=1_000,
    seed=1961,
)
