"""What is asked of a machine of any kind, where its kind has a part of the answer only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.db.models import QuerySet

from beadbox.exchange.document import Document
from beadbox.exchange.errors import ExchangeError
from beadbox.exchange.registry import format_get
from beadbox.learners.presets import preset_named
from beadbox.printing.sheets import PrintChoices, PrintOptions
from beadbox.rules.game import Game
from learning.exceptions import MachineFileError
from learning.kinds.registry import kind_of, kind_of_rule, kind_usual
from learning.models import Machine
from learning.selectors.strength import Strength, strength_measured_last


def machine_strength(machine: Machine) -> Strength:
    """Win, draw and loss against fixed opponents, and in the worst case where that can be known: exact, or a sample."""
    return kind_of(machine).strength(machine)


def strength_at_hand(machine: Machine) -> Strength:
    """The same as far as nobody has to wait for it: exact, or what was last measured where it takes games to know."""
    kind = kind_of(machine)
    return strength_measured_last(machine) if kind.is_sampled(machine) else kind.strength(machine)


def machine_mind(machine: Machine, position: Any) -> Any:
    """The machine as it stands, frozen, for a question about a position (``selectors.advice``)."""
    return kind_of(machine).mind(machine, position)


def opponent_machines(machine: Machine, among: QuerySet[Machine], limit: int = 100) -> list[Machine]:
    """Those machines that this one can be trained against, by name."""
    return list(kind_of(machine).partners(machine, among).order_by("name", "pk")[:limit])


def who_meets(game: Game[Any, Any], machines: Sequence[Machine]) -> str:
    """What decides which machines meet in a tournament of a game to which these may come, in a sentence or two."""
    usual = kind_usual(game)
    kinds = {kind_of(machine) for machine in machines} or ({usual} if usual else set())
    either_side = {kind.either_side for kind in kinds}
    if either_side == {True}:
        return "Here a machine plays either side, so every two machines meet twice."
    if True not in either_side:
        return "A machine plays one side only. It meets players that can play the other side."
    return (
        "Two players that play either side meet twice. A machine that plays one side meets players of the other side."
    )


@dataclass(frozen=True, slots=True)
class MachineFile:
    """A file to hand out."""

    name: str
    media_type: str
    text: str


def machine_export(machine: Machine, form: str = "native", *, any_size: bool = False) -> MachineFile:
    """A machine as a file of one of the formats of :data:`~beadbox.exchange.registry.FORMATS`.

    With ``any_size`` a machine that keeps values may have more of them than others could bring in.

    Raises:
        MachineFileError: there is no such format, or the machine does not fit into it.
    """
    try:
        chosen = format_get(form)
        text = kind_of(machine).dump(machine, chosen, any_size=any_size)
    except ExchangeError as error:
        raise MachineFileError(str(error)) from None
    extra = "" if form == "native" else f".{form}" if form != chosen.suffix else ""
    return MachineFile(f"{machine.slug}{extra}.{chosen.suffix}", chosen.media_type, text)


def import_notes(machine: Machine, data: Document, choose: str) -> list[str]:
    """What to tell whoever has brought this machine in from what its file was read as, a sentence each.

    ``choose`` ends "import the file again and …".
    """
    preset = preset_named(data.preset)
    rule_name = f"{preset.name} ({preset.slug})" if preset and preset.rule == data.rule else "a rule of its own"
    return kind_of_rule(data.rule).import_notes(machine, data, rule_name, choose)


def machine_print_choices(machine: Machine) -> PrintChoices:
    """What can be chosen when its boxes are printed.

    Raises:
        PrintRefusedError: it has none.
    """
    return kind_of(machine).print_choices(machine)


def machine_sheets(machine: Machine, options: PrintOptions) -> BytesIO:
    """The machine's boxes on paper, as PDF.

    Raises:
        PrintRefusedError: it has none, or they do not fit.
    """
    return kind_of(machine).sheets(machine, options)
