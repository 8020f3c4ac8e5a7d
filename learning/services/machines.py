"""Machines: create, import, update, reset and delete them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction

from beadbox.learners.exchange.document import Document, ImportOptions
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import IMPORT_PRESETS, machine_read
from beadbox.learners.presets import ALL_PRESETS, presets_of
from beadbox.learners.rule import Rule, UnsuitedRuleError
from beadbox.names import did_you_mean
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.accounts.principal import AnyUser
from learning.access import MachineUse, machine_require
from learning.exceptions import (
    GameTooLargeError,
    MachineBusyError,
    MachineFileError,
    RuleRefusedError,
    UnsuitedRuleRefusedError,
)
from learning.kinds.registry import kind_of, kind_of_rule, usual_kind
from learning.models import Lesson, Machine
from learning.selectors.runs import runs_teaching
from learning.services.machine_quotas import machine_quota_require, values_quota_require
from learning.storage.locks import deletion_lock, machine_lock, machine_lock_with_key
from learning.storage.names import names_forget
from learning.storage.retention import machine_rows_delete
from learning.storage.standings import stats_create, stats_reset


@transaction.atomic
def machine_create(
    *,
    game: str,
    side: Side | None,
    name: str,
    preset: str = "",
    rule: Rule | None = None,
    **details: Any,
) -> Machine:
    """Create a machine with its initial memory, from a preset, a rule, or the usual preset of its side.

    Args:
        game: slug of the game.
        side: the side that the machine plays; ``None`` for a kind that plays either side.
        name: name of the machine.
        preset: slug of the preset to copy the rule from; ignored when ``rule`` is given.
        rule: a rule of the machine's own.
        **details: further fields of the machine: ``slug``, ``description``, ``owner``.

    Raises:
        UnknownGameError, RuleRefusedError, GameTooLargeError.
    """
    rules = game_get(game)
    if not presets_of(rules):
        raise RuleRefusedError(f"game: No machine can play {rules.name}.")
    if rule is None:
        preset = preset or preset_usual(rules, side)
        rule = preset_rule(rules, preset)
    rule_require(rules, rule)
    kind = kind_of_rule(rule)
    if kind.occupant_class.either_side != (side is None):
        plays = "plays either side" if kind.occupant_class.either_side else "plays one side for good"
        raise RuleRefusedError(f"side: A machine that keeps {kind.page.text.noun} {plays}.")
    details |= kind.memory.fields_new(rule)
    machine = Machine.objects.create(
        game=rules.slug, side=side, name=name, preset=preset, rule_json=rule.to_json(), **details
    )
    kind.memory.create_memory(machine)
    stats_create(machine)
    return machine


def preset_usual(game: AnyGame, side: Side | None) -> str:
    """Return the slug of the default preset of a machine.

    Raises:
        RuleRefusedError: the usual kind of machine plays one fixed side, and none is given.
    """
    kind = usual_kind(game)
    assert kind is not None, "the caller has checked that a machine can play the game"
    return kind.page.usual_preset(game, side)


def preset_rule(game: AnyGame, preset: str) -> Rule:
    """Return the rule of a preset, adapted to a game.

    Raises:
        RuleRefusedError: there is no such preset.
    """
    template = ALL_PRESETS.get(preset)
    if template is None:
        raise RuleRefusedError(f"preset: there is no preset {preset!r}. {did_you_mean(preset, presets_of(game))}")
    return kind_of_rule(template.rule).page.suited(game, template.rule)


def rule_require(game: AnyGame, rule: Rule) -> None:
    """Refuse a rule that does not fit a game, or for which the game is too large.

    Raises:
        RuleRefusedError: no rule of this kind can play the game.
        UnsuitedRuleRefusedError: this rule cannot learn the game, but another rule of its kind can.
        GameTooLargeError: the game is too large.
    """
    if not rule.fits(game):
        preset_slugs = ", ".join(presets_of(game))
        raise RuleRefusedError(
            f"rule: A machine of this kind cannot play {game.name}; there are the presets {preset_slugs}."
        )
    try:
        rule.require_suited(game)
    except UnsuitedRuleError as error:
        raise UnsuitedRuleRefusedError(str(error)) from None
    kind_of_rule(rule).page.rule_require(game, rule)


@transaction.atomic
def machine_create_for_account(
    *,
    user: AnyUser,
    game: str,
    side: Side | None,
    name: str,
    preset: str = "",
    rule: Rule | None = None,
    description: str = "",
    is_public: bool = True,
) -> Machine:
    """Create a machine for the requesting account, within the account's quota.

    The parameters are those of :func:`machine_create`.

    Raises:
        MachineQuotaError, UnknownGameError, RuleRefusedError, GameTooLargeError.
    """
    machine_quota_require(user)
    return machine_create(
        game=game,
        side=side,
        name=name,
        preset=preset,
        rule=rule,
        description=description,
        is_public=is_public,
        owner=user,
    )


@dataclass(frozen=True, slots=True)
class ImportedMachine:
    """An imported machine, and the parsed content of its file."""

    machine: Machine
    data: Document


def machine_import(
    *,
    user: AnyUser | None,
    content: bytes,
    file_format: str = "",
    game: str = "",
    side: Side | None = None,
    preset: str = "",
    name: str = "",
    any_size: bool = False,
) -> ImportedMachine:
    """Create a machine from a file; its ledger begins with the beads or values of the file.

    Args:
        user: the owner of the machine; ``None`` for a machine of the site.
        content: the file.
        file_format: slug of the format; detected from the file by default.
        game: slug of the game, for files without one; detected from their positions by default.
        side: the side to read, for files without a side or with both.
        preset: slug of the preset whose rule the machine follows, for files without a rule.
        name: name of the machine; by default the name in the file.
        any_size: whether the file may exceed the size limit of accounts.

    Raises:
        MachineFileError: the file is invalid; nothing is stored.
        MachineQuotaError: the account's quota is used up.
        ValueQuotaError: the account's machines together would have too many values.
    """
    try:
        if preset and preset not in IMPORT_PRESETS:
            raise ExchangeError("preset", "choice", choices=", ".join(IMPORT_PRESETS))
        options = ImportOptions(
            game=game_get(game) if game else None,
            side=side,
            rule=IMPORT_PRESETS[preset].rule if preset else None,
            preset=preset,
            name=name.strip(),
            any_size=any_size,
        )
        data = machine_read(content, options, file_format)
        rule_require(data.game, data.rule)
    except (ExchangeError, GameTooLargeError, RuleRefusedError, UnknownGameError) as error:
        raise MachineFileError(str(error)) from None
    return ImportedMachine(_create_imported(user, data), data)


@transaction.atomic
def _create_imported(user: AnyUser | None, data: Document) -> Machine:
    if user is not None:
        machine_quota_require(user)
    kind = kind_of_rule(data.rule)
    details = kind.files.fields_read(data)
    if user is not None and kind.memory.copy_duplicates_rows:
        values_quota_require(cast("User", user), cast("int", details.get("n_values", 0)))
    machine = Machine.objects.create(
        owner=cast("User | None", user),
        name=data.name,
        description=data.description,
        game=data.game.slug,
        preset=data.preset,
        rule_json=data.rule.to_json(),
        learns=data.learns,
        n_games=data.wins + data.draws + data.losses,
        n_wins=data.wins,
        n_draws=data.draws,
        n_losses=data.losses,
        **details,
    )
    kind.files.restore(machine, data)
    stats_create(machine)
    return machine


@transaction.atomic
def machine_update(
    *,
    user: AnyUser,
    machine_id: int,
    name: str | None = None,
    description: str | None = None,
    learns: bool | None = None,
    is_public: bool | None = None,
) -> Machine:
    """Rename, describe, freeze or resume, publish or hide a machine; ``None`` leaves a field as it is.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    machine = _lock_permitted(machine_id, user, to="edit")
    fields = {"name": name, "description": description, "learns": learns, "is_public": is_public}
    changes = {field: value for field, value in fields.items() if value is not None}
    for field, value in changes.items():
        setattr(machine, field, value)
    machine.save(update_fields=list(changes))
    return machine


@transaction.atomic
def machine_reset(*, user: AnyUser, machine_id: int) -> Machine:
    """Reset a machine to the initial memory of its rule; delete its lessons and snapshots.

    Training runs and their curves are kept as history. The machine's ``n_lessons`` still increases, so that data cached
    under an earlier number is never used for the reset machine.

    Raises:
        MachineNotFoundError, NotYourMachineError.
        MachineBusyError: the machine is being trained.
    """
    machine_lock_with_key(machine_id)
    machine = _lock_permitted(machine_id, user, to="edit")
    _require_idle(machine)
    machine_clear(machine)
    return machine


def machine_clear(machine: Machine) -> None:
    """Reset the memory, the ledger and the totals of a machine.

    Call after :func:`learning.storage.locks.machine_lock_with_key`.
    """
    memory = kind_of(machine).memory
    memory.clear_rows(machine)
    machine.snapshots.all().delete()
    Lesson.objects.filter(machine=machine).delete()
    counters = ["n_games", "n_wins", "n_draws", "n_losses", "n_removed", "n_values"]
    initial_fields = dict.fromkeys(counters, 0) | memory.fields_new(machine.rule)
    for field, value in initial_fields.items():
        setattr(machine, field, value)
    memory.store_initial_memory(machine)
    machine.n_lessons += 1
    machine.n_forgotten, machine.n_folded, machine.folded_at = machine.n_lessons, 0, None
    machine.save(update_fields=["n_lessons", "n_forgotten", "n_folded", "folded_at", *initial_fields])
    stats_reset(machine)


@transaction.atomic
def machine_delete(*, user: AnyUser, machine_id: int) -> None:
    """Delete a machine with its boxes, its ledger and its training runs, including active ones.

    The machine's matches are kept, and other machines keep what they learnt from it. If another machine is training
    against the deleted machine, that run stops at the next chunk that needs the opponent.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    deletion_lock(machine_id)
    machine_remove(_lock_permitted(machine_id, user, to="delete"))


def machine_remove(machine: Machine) -> None:
    """Delete a machine with all rows that belong to it. Call after :func:`learning.storage.locks.deletion_lock`."""
    names_forget([machine.pk])
    kind_of(machine).memory.end_sharing(machine)
    machine_rows_delete(machine)
    machine.delete()


def _lock_permitted(machine_id: int, user: AnyUser, *, to: MachineUse) -> Machine:
    """Lock a machine and check the user's permission. Call inside a transaction.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    (machine,) = machine_lock(machine_id)
    machine_require(user, machine, to=to)
    return machine


def _require_idle(machine: Machine) -> None:
    if runs_teaching(machine).exists():
        raise MachineBusyError
