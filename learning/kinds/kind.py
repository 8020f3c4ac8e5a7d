"""A kind of machine: five parts, each of which is responsible for one part of the site.

Only a kind's own folder knows which kind a machine is. Other code calls :func:`learning.kinds.registry.kind_of` and
uses the object that it needs. ``docs/adding-a-machine.md`` explains how to add a kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.learners.rule import Rule
from learning.kinds.files import KindFiles
from learning.kinds.live import KindLive
from learning.kinds.memory import KindMemory
from learning.kinds.page import KindPage
from learning.kinds.training import KindTraining


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of machine. Each kind is one object, which keeps no state between calls."""

    rule: type[Rule]
    """The class of the kind's rules; ``rule.kind`` names the kind in the API and in files."""
    memory: KindMemory
    occupant_class: type[KindLive]
    """The class of its machines in seats of live matches."""
    training: KindTraining
    files: KindFiles
    page: KindPage
