"""Machines of a kind as files and on paper."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Any

from beadbox.learners.exchange.document import Document
from beadbox.learners.formats import Format
from beadbox.printing.options import PrintChoices, PrintOptions
from beadbox.rules.game import AnyGame
from learning.exceptions import PrintRefusedError
from learning.models import Machine


class KindFiles(ABC):
    """How machines of a kind are written and read."""

    @staticmethod
    @abstractmethod
    def read(file: dict[str, Any], game: AnyGame, rule: Any, head: dict[str, Any], any_size: bool, /) -> Document:
        """What a native file holds beyond its head, and with it the whole.

        Args:
            file: all of its fields, nothing about them known but the head.
            game: its game.
            rule: its rule, one of this kind.
            head: name, description, preset, learns.
            any_size: whether it may be larger than files of accounts.

        Raises:
            ExchangeError: something is wrong; the place is named.
        """

    @abstractmethod
    def dump(self, machine: Machine, form: Format, *, any_size: bool = False) -> str:
        """The machine as a file of a format.

        Raises:
            ExchangeError: it does not fit into one.
        """

    @abstractmethod
    def fields_read(self, data: Any) -> dict[str, object]:
        """Fields of the row of a machine that comes from a file, as far as they differ from kind to kind."""

    @abstractmethod
    def restore(self, machine: Machine, data: Any) -> None:
        """Store the memory that a file holds as that of a new, empty machine; its ledger begins with it."""

    def import_notes(self, machine: Machine, data: Any, rule_name: str, choose: str) -> list[str]:
        """What to tell the person who imported this machine, a sentence each.

        ``rule_name`` is what its rule is called; ``choose`` ends "import the file again and …".
        """
        return [f"The machine keeps the rule of the file: {rule_name}. For another rule, make a new machine."]

    def print_choices(self, machine: Machine) -> PrintChoices:
        """What can be chosen when its boxes are printed.

        Raises:
            PrintRefusedError: it has none.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {machine.rule.keeps}.")

    def sheets(self, machine: Machine, options: PrintOptions) -> BytesIO:
        """Its boxes on paper, as PDF.

        Raises:
            PrintRefusedError: it has none, or they do not fit.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {machine.rule.keeps}.")
