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
        """Read a native file: the fields beyond its head, and with them the whole document.

        Args:
            file: all of its fields; only the head has been checked.
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
            ExchangeError: the machine does not fit into the format.
        """

    @abstractmethod
    def fields_read(self, data: Any) -> dict[str, object]:
        """Fields of the row of an imported machine that differ from kind to kind."""

    @abstractmethod
    def restore(self, machine: Machine, data: Any) -> None:
        """Store the memory in a file as that of a new, empty machine; its ledger begins with it."""

    def import_notes(self, machine: Machine, data: Any, rule_name: str, choose: str) -> list[str]:
        """Notes for the account that imported this machine, a sentence each.

        ``rule_name`` is the name of its rule; ``choose`` ends "import the file again and …".
        """
        return [f"The machine keeps the rule of the file: {rule_name}. For another rule, make a new machine."]

    def print_choices(self, machine: Machine) -> PrintChoices:
        """The choices for printing the machine's boxes.

        Raises:
            PrintRefusedError: the machine has no boxes.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {machine.rule.keeps}.")

    def sheets(self, machine: Machine, options: PrintOptions) -> BytesIO:
        """The machine's boxes on paper, as PDF.

        Raises:
            PrintRefusedError: the machine has no boxes, or they do not fit.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {machine.rule.keeps}.")
