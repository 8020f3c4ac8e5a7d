"""Three small games unlike those of the site: code that works with them works with every game that keeps the rules.

``Touch`` has more openings than most opponents consider. The positions of ``Tug`` repeat. ``Heaps`` has neither boxes
nor an engine.
"""

from typing import Any

from beadbox.rules.game import Game
from tests.toys.heaps import Heaps
from tests.toys.touch import Touch
from tests.toys.tug import Tug

TOYS: tuple[Game[Any, Any], ...] = (Touch(), Tug(), Heaps())
