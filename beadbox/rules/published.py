"""Numbers that sources print for a game."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A number that a source prints for a game, to stand beside ours.

    ``fact`` names our number: its keys in the facts of the game (``learners/facts.py``), with dots between them.
    ``rule`` says in a sentence how the source counts, and ``same_rule`` whether we count so too.
    """

    source: str
    number: int
    fact: str
    rule: str
    same_rule: bool = False
