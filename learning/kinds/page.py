"""Pages of a kind of machine: the form that makes a machine, and the descriptions of machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from beadbox import field_text
from beadbox.learners.preset import Preset
from beadbox.learners.rule import Rule, RuleError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from learning.exceptions import BoxNotFoundError, NoBoxesError
from learning.models import Machine
from learning.selectors.experiments import experiments_about
from learning.selectors.snapshots import snapshots_summary
from learning.selectors.strength import CURVE_OPPONENTS, Strength
from learning.states import Progress


@dataclass(frozen=True, slots=True)
class Words:
    """The label of a rule's field, its effect, and the meaning of its choices."""

    label: str
    does: str
    choices: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Fields of a rule that the editor shows together."""

    name: str
    fields: tuple[str, ...]
    exactly: str = ""
    """The formula that contains these fields, if there is a formula."""


@dataclass(frozen=True, slots=True)
class KindText:
    """Texts and links on the pages of any machine of a kind."""

    noun: str
    """The word for the content of a machine: "boxes" in "A machine that keeps boxes"."""
    words: Mapping[str, Words]
    """The texts of every field of the kind's rule, by the field's name."""
    groups: tuple[RuleGroup, ...]
    """The fields of the kind's rule in the order of the editor; each field is in a single group."""
    see: str = "See the machine"
    """The text of the link to the machine's page after a training."""
    why: str = "machine"
    """The URL name of the page that explains the machine's moves; its argument is the machine's id."""
    admin_list: tuple[str, str] = ("machine", "id__exact")
    """The admin's list of the memory of a machine: the name of the model, and the parameter for the machine's id."""


@dataclass(frozen=True, slots=True)
class Page:
    """A template, its context, and the HTTP status of the response: 404 if the requested object does not exist."""

    template: str
    context: dict[str, Any]
    status: int = 200


def format_percent(share: float) -> str:
    """Return a share as a percentage with three significant digits: 0.004 is 0.4 %, not 0 %."""
    return f"{100 * share:.3g}%"


class KindPage(ABC):
    """The form that makes machines of a kind, and their descriptions on pages and in the API."""

    presets: ClassVar[Mapping[str, Preset[Rule]]]
    """Named rules by slug; the first is the default. A slug is unique among the presets of all kinds."""
    text: ClassVar[KindText]

    # The form for a new machine

    def usual_preset(self, game: AnyGame, side: Side | None) -> str:
        """Return the slug of a new machine's default preset.

        Raises:
            RuleRefusedError: no preset fits the side.
        """
        return next(iter(self.presets))

    def suited(self, game: AnyGame, rule: Any) -> Rule:
        """Return the rule of a preset, adapted to this game."""
        adapted: Rule = rule
        return adapted

    def rule_require(self, game: AnyGame, rule: Any) -> None:
        """Refuse a rule that this kind cannot use in this game, although ``rule.fits`` accepts the game.

        Raises:
            GameTooLargeError, RuleRefusedError.
        """

    def usual_name(self, game: AnyGame, side: Side | None, preset: str) -> str:
        """Return the name of a machine that is made through the API without a name."""
        return f"{self.presets[preset].name if preset else game.name}"

    def rule_to_form(self, rule: Any) -> dict[str, object]:
        """Return the values of the rule's form fields."""
        return {field.name: getattr(rule, field.name) for field in fields(rule)}

    def rule_from_form(self, values: dict[str, object]) -> dict[str, object]:
        """Return the fields of the rule in JSON, from the values of its form fields.

        Raises:
            RuleError: a value cannot be read.
        """
        if empty := [name for name, value in values.items() if value is None]:
            raise RuleError(empty[0], field_text.REQUIRED)
        return values

    # Descriptions of a machine

    @abstractmethod
    def rule_sentences(self, rule: Any) -> list[tuple[str, str]]:
        """Return a rule in words, as (label, sentence) for each field that matters."""

    @abstractmethod
    def content_phrase(self, machine: Machine) -> str:
        """Return a phrase on the content of the machine's memory, such as "304 boxes"."""

    def machine_page(self, machine: Machine, strength: Strength, query: Mapping[str, str]) -> Page:
        """Return the kind's part of a machine's page; ``views.machines.machine_page`` adds the common part.

        ``query`` has the unchecked parameters of the URL.
        """
        layout = machine.game_rules.presentation.layout
        sides = [Side(machine.side).other] if machine.side is not None else list(Side)
        context = {
            "machine": machine_facts(self, machine)
            | {"memory_phrase": machine.rule.keeps, "content_phrase": self.content_phrase(machine)},
            "roles": [(layout.roles[side], layout.role_names[side]) for side in sides],
            "snapshots_summary": snapshots_summary(machine),
            "strength": [(name, strength[slug]) for slug, name in CURVE_OPPONENTS.items() if slug in strength],
            "experiments": experiments_about(machine.preset),
        }
        return Page("learning/machine_plain.html", context)

    def position_page(self, machine: Machine, text: str) -> Page:
        """Return the page on a position; either side may be to move. The API returns the context of this page.

        Raises:
            BoxNotFoundError: the text is no position, or the machine keeps no values.
        """
        raise BoxNotFoundError(f"{machine.name} keeps {machine.rule.keeps}, and no values.")

    def progress(self, machine: Machine, *, to_owner: bool) -> Progress:
        """Return the progress of the machine; ``to_owner`` calls its owner "you".

        Raises:
            NoBoxesError: its kind describes no progress.
        """
        raise NoBoxesError(f"{machine.name} has no boxes: it keeps {machine.rule.keeps}.")

    def level_page(self, game: AnyGame) -> Page | None:
        """Return the page on the memory of a game's levels; ``None`` if they have a memory of another kind."""
        return None


def machine_facts(page: KindPage, machine: Machine) -> dict[str, object]:
    """Return the facts for the page of a machine of any kind."""
    preset, game = page.presets.get(machine.preset), machine.game_rules
    return {
        **machine.brief,
        "side_name": machine.get_side_display(),
        "description": machine.description,
        "owner_name": machine.owner.get_username() if machine.owner else "",
        "rule_name": preset.name if preset else "a rule of its own",
        "rule_source": preset.source if preset else "",
        "rule_sentences": page.rule_sentences(machine.rule),
        "folded_at": machine.folded_at,
        "ply_limit": game.ply_limit,
        "is_endless_drawn": game.endless_winner is None,
    }
