"""The machines of the house: what a new site trains at its first start. A new one is an entry here."""

from dataclasses import dataclass

from games.rules.base import Side


@dataclass(frozen=True, slots=True)
class HouseMachine:
    """A machine that belongs to the site, and the training it starts life with."""

    slug: str
    name: str
    description: str
    game: str
    side: Side
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
    # HER is made to be watched while she learns: after a few games she still loses, and after a hundred no more.
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
    # Whoever begins is beaten by good play, so the first player gets a rule that never runs out of beads for good.
    HouseMachine(
        slug="him",
        name="HIM",
        description="The robot for the other side: 18 matchboxes that begin the game, and forgive more than HER.",
        game="hexapawn",
        side=Side.FIRST,
        preset="michie-refill",
        opponent="random",
        n_games=20,
        seed=1962,
    ),
)


def house_machine(game: str, side: Side) -> HouseMachine | None:
    """The house's machine for a side of a game, if there is one."""
    return next((machine for machine in HOUSE if machine.game == game and machine.side is side), None)
