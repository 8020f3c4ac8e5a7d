"""The part of a kind of machine that reads and writes files, and prints boxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Any

from beadbox.learners.exchange.document import Document
from beadbox.learners.formats import Format
from beadbox.printing.options import PrintChoices, PrintOptions
from beadbox.rules.game import AnyGame
from learning.exceptions import PrintRefusedError
from learning.models import Machine, TournamentEntry


class KindFiles(ABC):
    """Files and prints of the machines of a kind."""

    @staticmethod
    @abstractmethod
    def read(file: dict[str, Any], game: AnyGame, rule: Any, head: dict[str, Any], any_size: bool, /) -> Document:
        """Read the fields of a native file beyond its head, and return the whole document.

        Args:
            file: all fields of the file; only the head has been checked.
            game: the game named in the file.
            rule: the rule in the file, a rule of this kind.
            head: name, description, preset, learns.
            any_size: whether the file may be larger than the files that accounts may import.

        Raises:
            ExchangeError: a field is invalid; the error names its place.
        """

    @abstractmethod
    def dump(
        self, machine: Machine, form: Format, *, any_size: bool = False, entry: TournamentEntry | None = None
    ) -> str:
        """Return the machine as a file of a format.

        With ``entry``, the file has the machine as it entered a tournament, without its games and visits.

        Raises:
            ExchangeError: the machine does not fit into the format.
            HistoryCompactedError: the machine's state of that time is compacted.
        """

    @abstractmethod
    def fields_read(self, data: Any) -> dict[str, object]:
        """Return the row fields of an imported machine that this kind sets."""

    @abstractmethod
    def restore(self, machine: Machine, data: Any) -> None:
        """Store the memory of a file in a new, empty machine; the machine's ledger begins with this memory."""

    def import_notes(self, machine: Machine, data: Any, rule_name: str, choose: str) -> list[str]:
        """Return notes for the account that imported this machine, one sentence each.

        ``rule_name`` is the name of its rule; ``choose`` is the end of the sentence "import the file again and …".
        """
        return [f"The machine keeps the rule of the file: {rule_name}. For another rule, make a new machine."]

    def print_choices(self, machine: Machine) -> PrintChoices:
        """Return the choices for printing the machine's boxes.

        Raises:
            PrintRefusedError: the machine has no boxes.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {machine.rule.keeps}.")

    def sheets(self, machine: Machine, options: PrintOptions) -> BytesIO:
        """Return the sheets with the machine's boxes, as PDF.

        Raises:
            PrintRefusedError: the machine has no boxes, or they do not fit.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {machine.rule.keeps}.")
