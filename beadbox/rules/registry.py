"""The registry of games. A new game is a folder beside this file and a line here."""

from collections.abc import Collection
from typing import cast

from beadbox.names import MAX_SLUG_CHARACTERS, name_near
from beadbox.rules.achi.rules import ACHIS
from beadbox.rules.climbing.rules import Ladder
from beadbox.rules.dodgem.rules import Dodgem
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.hare_and_hounds.rules import HareAndHounds
from beadbox.rules.hexapawn.rules import HEXAPAWNS
from beadbox.rules.misere_noughts_and_crosses.rules import MisereNoughtsAndCrosses
from beadbox.rules.mu_torere.rules import MuTorere
from beadbox.rules.nim.rules import Nim
from beadbox.rules.notakto.rules import Notakto
from beadbox.rules.noughts_and_crosses.rules import NoughtsAndCrosses
from beadbox.rules.pong_hau_ki.rules import PongHauKi
from beadbox.rules.romgon.rules import ROMGONS
from beadbox.rules.three_mens_morris.rules import MORRISES
from beadbox.rules.twenty_one_matches.rules import TwentyOneMatches
from beadbox.rules.wild_noughts_and_crosses.rules import WildNoughtsAndCrosses

_SMALL = (Ladder(), TwentyOneMatches(), Nim(), Notakto(), MisereNoughtsAndCrosses(), WildNoughtsAndCrosses())
_RETURNING = (PongHauKi(), MuTorere(), *MORRISES, *ACHIS, Dodgem(), HareAndHounds())
_GAMES = cast("tuple[AnyGame, ...]", (NoughtsAndCrosses(), *HEXAPAWNS, *ROMGONS, *_SMALL, *_RETURNING))

GAMES: dict[str, AnyGame] = {game.slug: game for game in _GAMES}
"""Games by slug, variants included; the usual game of a family precedes its variants."""


def family_games(family: str) -> tuple[AnyGame, ...]:
    """Return the games of a family, the usual one first; empty if there is no such family."""
    return tuple(game for game in GAMES.values() if game.family == family)


def game_with(family: str, additions: Collection[str]) -> AnyGame:
    """Return the game of a family with exactly these additions.

    Raises:
        UnknownGameError: there is no such family, or none of its games has these additions.
    """
    found = [game for game in family_games(family) if set(game.added) == set(additions)]
    if not found:
        raise UnknownGameError(f"{family!r} is not played with {', '.join(additions) or 'nothing added'}.")
    return found[0]


def game_get(slug: str) -> AnyGame:
    """Return the game with this slug.

    Raises:
        UnknownGameError: no game has this slug; the error names a similar one.
    """
    try:
        return GAMES[slug]
    except KeyError:
        usual = ", ".join(game.slug for game in GAMES.values() if game.slug == game.family)
        near = name_near(slug, GAMES)
        more = f"Did you mean {near}?" if near else f"There are {usual}, and variants of these."
        raise UnknownGameError(f"{slug[:MAX_SLUG_CHARACTERS]!r} is not a game. {more}", near) from None
