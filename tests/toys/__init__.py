"""Three small games that are like none of the site's: what holds of them holds of every game that keeps the rules.

``Touch`` has more openings than most opponents look at, ``Tug`` comes back to the same positions again and again,
and of ``Heaps`` nobody makes boxes and no engine knows it.
"""

from typing import Any

from beadbox.rules.game import Game
from tests.toys.heaps import Heaps
from tests.toys.touch import Touch
from tests.toys.tug import Tug

TOYS: tuple[Game[Any, Any], ...] = (Touch(), Tug(), Heaps())
