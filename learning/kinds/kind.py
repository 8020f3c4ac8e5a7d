"""A kind of machine: five objects, each of which answers for one part of the site.

Nobody outside a kind's own folders asks which kind a machine is. Callers ask
:func:`learning.kinds.registry.kind_of` and take the object that they need. ``docs/adding-a-machine.md`` tells how to
add a kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from beadbox.learners.rule import Rule
from learning.kinds.files import KindFiles
from learning.kinds.live import KindLive
from learning.kinds.memory import KindMemory
from learning.kinds.page import KindPage
from learning.kinds.training import KindTraining


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of machine. There is one of each; its objects keep nothing between two questions."""

    rule: type[Rule]
    """The class of its rules; ``rule.kind`` names the kind, on the wire and in files."""
    memory: KindMemory
    live: KindLive[Any]
    training: KindTraining
    files: KindFiles
    page: KindPage
