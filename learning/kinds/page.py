"""Pages and forms of a kind of machine: how it is made, and what is told of it."""

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
from learning.selectors.machines import machine_brief
from learning.selectors.snapshots import snapshots_told
from learning.selectors.strength import CURVE_AGAINST, Strength
from learning.states import Progress


@dataclass(frozen=True, slots=True)
class Words:
    """What a field of a rule is called, what it does, and what its choices mean."""

    label: str
    does: str
    choices: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Fields that the editor shows together, and the formula that they stand in, if there is one."""

    name: str
    fields: tuple[str, ...]
    exactly: str = ""


@dataclass(frozen=True, slots=True)
class KindText:
    """What pages say of a kind, whichever machine it is, and where they lead."""

    noun: str
    """What a machine of this kind keeps, in a word: "A machine that keeps boxes"."""
    words: Mapping[str, Words]
    """Every field of its rule in words."""
    groups: tuple[RuleGroup, ...]
    """The fields of its rule in the order of the editor, each once."""
    see: str = "See the machine"
    """The link to its page after a training."""
    see_all: str = "See the machine"
    """The link there after a match, where it played alone."""
    see_named: str = "See {name}"
    """The link there after a match in which it played with another machine."""
    why: str = "machine"
    """The URL name of the page (of its id) that tells why it moves as it does."""
    tells: str = ""
    """The part of a match's ``learning`` that tells of it beside ``lessons``: ``boxes``, ``values``
    (docs/protocol.md)."""
    admin_list: tuple[str, str] = ("machine", "id__exact")
    """The list of the admin that shows its memory: the name of the model, and the parameter that takes a machine's
    id."""


@dataclass(frozen=True, slots=True)
class Page:
    """A template, its context, and the status of the answer: 404 where what was asked of it is not to be had."""

    template: str
    context: dict[str, Any]
    status: int = 200


def percent(share: float) -> str:
    """A share in words, to three digits: 0.004 is 0.4 %, and not none."""
    return f"{100 * share:.3g}%"


class KindPage(ABC):
    """How machines of a kind are made, and what pages and the API tell of them."""

    presets: ClassVar[Mapping[str, Preset[Rule]]]
    """Rules with a name, by slug; the first is the usual one. Slugs are unique among those of all kinds."""
    text: ClassVar[KindText]

    # The form that makes one

    def usual_preset(self, game: AnyGame, side: Side | None) -> str:
        """The slug of the preset that a machine gets when nobody says otherwise.

        Raises:
            RuleRefusedError: there is none for such a side.
        """
        return next(iter(self.presets))

    def suited(self, game: AnyGame, rule: Any) -> Rule:
        """The rule of a preset, as it fits this game."""
        fitting: Rule = rule
        return fitting

    def rule_require(self, game: AnyGame, rule: Any) -> None:
        """Refuse a rule that asks of its game what that cannot give. That it fits has been seen to.

        Raises:
            GameTooLargeError, RuleRefusedError.
        """

    def usual_name(self, game: AnyGame, side: Side | None, preset: str) -> str:
        """What the API calls a machine that nobody named."""
        return f"{self.presets[preset].name if preset else game.name}"

    def rule_to_form(self, rule: Any) -> dict[str, object]:
        """The values of the rule's form fields."""
        return {field.name: getattr(rule, field.name) for field in fields(rule)}

    def rule_from_form(self, values: dict[str, object]) -> dict[str, object]:
        """What the form fields of its rule say, as the fields of its rule in JSON.

        Raises:
            RuleError: one cannot be read.
        """
        if empty := [name for name, value in values.items() if value is None]:
            raise RuleError(empty[0], field_text.REQUIRED)
        return values

    # What is told of one

    @abstractmethod
    def rule_sentences(self, rule: Any) -> list[tuple[str, str]]:
        """A rule in words, field by field that matters, as (label, sentence)."""

    @abstractmethod
    def holds(self, machine: Machine) -> str:
        """What it holds, counted: "304 boxes"."""

    def machine_page(self, machine: Machine, strength: Strength, asked: Mapping[str, str]) -> Page:
        """The page of a machine: what it has beside what every such page has (``views.machines.machine_page``).

        ``asked`` are the parameters of its address, as they came.
        """
        layout = machine.game_rules.look.layout
        sides = [Side(machine.side).other] if machine.side is not None else list(Side)
        own = {
            "machine": machine_facts(self, machine) | {"keeps": machine.rule.keeps, "holds": self.holds(machine)},
            "roles": [(layout.roles[side], layout.role_names[side]) for side in sides],
            "kept": snapshots_told(machine),
            "strength": [(name, strength[slug]) for slug, name in CURVE_AGAINST.items() if slug in strength],
            "experiments": experiments_about(machine.preset),
        }
        return Page("learning/machine_plain.html", own)

    def position_page(self, machine: Machine, text: str) -> Page:
        """What it makes of a position, whoever is to move; the context is what the API answers.

        Raises:
            BoxNotFoundError: the text is no position, or the machine keeps no values.
        """
        raise BoxNotFoundError(f"{machine.name} keeps {machine.rule.keeps}, and no values.")

    def progress(self, machine: Machine, *, to_owner: bool) -> Progress:
        """How far the machine has come; ``to_owner`` says "you" of who teaches it.

        Raises:
            NoBoxesError: its kind tells nothing of it.
        """
        raise NoBoxesError(f"{machine.name} has no boxes: it keeps {machine.rule.keeps}.")

    def level_page(self, game: AnyGame) -> Page | None:
        """The page of what levels of a game play by, if that is what such a machine has learnt."""
        return None


def machine_facts(page: KindPage, machine: Machine) -> dict[str, object]:
    """What the page of a machine of any kind says of it."""
    preset = page.presets.get(machine.preset)
    return {
        **machine_brief(machine),
        "side_name": machine.get_side_display(),
        "description": machine.description,
        "owner_name": machine.owner.get_username() if machine.owner else "",
        "rule_name": preset.name if preset else "a rule of its own",
        "rule_source": preset.source if preset else "",
        "rule_sentences": page.rule_sentences(machine.rule),
        "folded_at": machine.folded_at,
    }
