"""Machines: made, copied, brought in, changed, reset and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet, Sum

from beadbox.learners.exchange.document import Document, Wanted
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import RULES_TO_CHOOSE, machine_read
from beadbox.learners.presets import preset_named, presets_of
from beadbox.learners.rule import Rule
from beadbox.names import did_you_mean, name_problem
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.accounts.principal import AnyUser, RoomsOf, Visitor
from games.exceptions import GuestMovedError, MalformedError
from games.limits.quotas import account_lock, count_lock, quota_require, site_require
from games.live.match_lists import MAX_CONCURRENT_TRANSACTIONS, rooms_of, rooms_open
from games.models import Room
from learning.access import To, machine_for, machine_require
from learning.exceptions import (
    GameTooLargeError,
    MachineBusyError,
    MachineFileError,
    MachineNotFoundError,
    MachineQuotaError,
    RuleRefusedError,
    ValueQuotaError,
)
from learning.kinds.registry import kind_of, kind_of_rule, kind_usual
from learning.models import Lesson, Machine, MovedGuest, SharedLink
from learning.selectors.machines import copies_of
from learning.selectors.runs import runs_teaching
from learning.storage.bounds import values_left
from learning.storage.locks import machine_held, machine_lock
from learning.storage.names import names_forget
from learning.storage.retention import machine_rows_delete
from learning.storage.standings import standing_open, standing_reset

DELETIONS = 1
"""The lock that deletions of machines wait for; PostgreSQL knows such locks by a number, and we have no other."""


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
    """A new machine with its boxes laid out, from a preset, a rule, or the usual preset of its side.

    Args:
        game: slug of the game.
        side: the side it will play; ``None`` for a machine of a kind that plays either.
        name: what people call it.
        preset: slug of the preset to copy the rule from; ignored when ``rule`` is given.
        rule: a rule of its own.
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
    if kind.live.either_side != (side is None):
        plays = "plays either side" if kind.live.either_side else "plays one side for good"
        raise RuleRefusedError(f"side: A machine that keeps {kind.page.text.noun} {plays}.")
    details |= kind.memory.fields_new(rule)
    machine = Machine.objects.create(
        game=rules.slug, side=side, name=name, preset=preset, rule_json=rule.to_json(), **details
    )
    kind.memory.lay_out(machine)
    standing_open(machine)
    return machine


def preset_usual(game: AnyGame, side: Side | None) -> str:
    """The slug of the preset that a machine gets when nobody says otherwise.

    Raises:
        RuleRefusedError: the usual machine plays one side for good, and none is given.
    """
    kind = kind_usual(game)
    assert kind is not None, "some machine plays it"
    return kind.page.usual_preset(game, side)


def preset_rule(game: AnyGame, preset: str) -> Rule:
    """The rule of a preset, as it fits a game.

    Raises:
        RuleRefusedError: there is no such preset.
    """
    found = preset_named(preset)
    if found is None:
        raise RuleRefusedError(f"preset: there is no preset {preset!r}. {did_you_mean(preset, presets_of(game))}")
    return kind_of_rule(found.rule).page.suited(game, found.rule)


def rule_require(game: AnyGame, rule: Rule) -> None:
    """Refuse a rule that does not fit a game, or asks of it what it is too large for.

    Raises:
        RuleRefusedError, GameTooLargeError.
    """
    if not rule.fits(game):
        able = ", ".join(presets_of(game))
        raise RuleRefusedError(f"rule: A machine of this kind cannot play {game.name}; there are the presets {able}.")
    kind_of_rule(rule).page.rule_require(game, rule)


@transaction.atomic
def machine_clone(*, machine_id: int, name: str, **details: Any) -> Machine:
    """A copy of a machine as it stands: same rule, same beads, a ledger of its own that begins with them.

    It is as public as the original.

    Raises:
        MachineNotFoundError.
    """
    copy = _copied(_original(machine_id), name, **details)
    standing_open(copy)
    return copy


def _copied(original: Machine, name: str, **details: Any) -> Machine:
    """A copy of a machine that is kept as by :func:`_original`, in no list yet."""
    memory = kind_of(original).memory
    fields: dict[str, object] = {"n_removed": original.n_removed, "is_public": original.is_public}
    fields |= memory.fields_copied(original) | details
    copy = Machine.objects.create(
        name=name,
        copied_from=original,
        game=original.game,
        side=original.side,
        preset=original.preset,
        rule_json=original.rule_json,
        epsilon=original.epsilon,
        n_values=original.n_values,
        **fields,
    )
    memory.copy(original, copy)
    return copy


def _original(machine_id: int) -> Machine:
    """The machine that is to be copied: it is there, and remembers what it knows, until the copy is stored.

    Only one whose copy gets rows is locked. To share boxes nobody waits for those who teach it, nor they for us.

    Raises:
        MachineNotFoundError.
    """
    machine = machine_held(pk=machine_id)
    if machine is None:
        raise MachineNotFoundError
    return _locked(machine_id) if kind_of(machine).memory.copies_rows else machine


@transaction.atomic
def machine_make(
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
    """A new machine that belongs to the account that asks.

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


@transaction.atomic
def machine_copy(*, user: AnyUser, machine_id: int, name: str = "", is_public: bool | None = None) -> Machine:
    """A copy, as :func:`machine_clone`, of a machine that the account may see; the copy belongs to the account.

    Raises:
        MachineNotFoundError, NotYourMachineError, MachineQuotaError.
    """
    if name and (problem := name_problem(name)):
        raise MalformedError(f"name: {problem}")
    machine_quota_require(user)
    original = _locked(machine_for(user, machine_id, to="export").pk)
    values_quota_require(cast("User", user), original.n_values)
    copy = machine_clone(machine_id=original.pk, name=name or f"{original.name[:70]} (copy)", owner=user)
    if is_public is not None and copy.is_public != is_public:
        copy.is_public = is_public
        copy.save(update_fields=["is_public"])
    return copy


def room_copy(*, machine_id: int, room: Room, owner: User | None, guest: UUID | None, lent: bool = False) -> Machine:
    """A copy, as :func:`machine_clone` but in no list, for a room: of its account (``owner``), or of who plays there.

    Call inside the transaction that stores its match. Once that is done, older ones of whoever opened it make way.
    A copy of a ``lent`` machine belongs to nobody, and is seen by the same link for as long as that works.

    Raises:
        MachineNotFoundError, ValueQuotaError.
    """
    site_require("learning_machine")
    user_id = None if owner is None else owner.pk
    if owner is not None:
        account_lock(owner)
    original = _original(machine_id)
    if kind_of(original).memory.copies_rows:
        most = settings.VALUES_PER_ROOM_COPY
        if original.n_values > most:
            raise ValueQuotaError(
                f"{original.name} has {original.n_values:,} values, and a machine copied for a game may have {most:,}."
                " Play it itself, or copy it on its page."
            )
        if owner is not None:
            values_quota_require(owner, original.n_values)
        else:  # so that nothing is copied in vain; asked again when everything is stored (guests_values_require)
            guests_values_require(guest, room.opened_from, n_more=original.n_values)
    clear = partial(copies_clear, user_id=user_id, guest=guest, address=room.opened_from)
    transaction.on_commit(clear, robust=True)  # the room is there, whatever becomes of the others
    name = f"{original.name[:70]} (copy)"
    if not lent:
        return _copied(original, name, room=room, owner=owner)
    # Locked, so that the link is not taken back before the copy can be found by it.
    link = SharedLink.objects.select_for_update(no_key=True).filter(pk=original.share_id or 0, ended_at=None).first()
    if link is None:
        raise MachineNotFoundError
    return _copied(original, name, room=room, share=link)


@dataclass(frozen=True, slots=True)
class Imported:
    """A machine that was brought in, and what its file was read as."""

    machine: Machine
    data: Document


def machine_import(
    *,
    user: AnyUser | None,
    content: bytes,
    form: str = "",
    game: str = "",
    side: Side | None = None,
    preset: str = "",
    name: str = "",
    any_size: bool = False,
) -> Imported:
    """A new machine from a file; it belongs to the account, and its ledger begins with the beads or values of the file.

    Args:
        user: the account that asks; ``None`` for a machine of the house.
        content: the file.
        form: its format, read off the file if left out.
        game: slug of its game, for files that do not say; read off their positions if left out.
        side: the side to take from a file that does not say or holds both.
        preset: whose rule the machine follows from now on, for files without a rule.
        name: what people call it, instead of the name in the file.
        any_size: whether the file may be larger than those of accounts.

    Raises:
        MachineFileError: the file was refused; nothing of it is kept.
        MachineQuotaError.
    """
    try:
        if preset and preset not in RULES_TO_CHOOSE:
            raise ExchangeError("preset", "choice", choices=", ".join(RULES_TO_CHOOSE))
        wanted = Wanted(
            game=game_get(game) if game else None,
            side=side,
            rule=RULES_TO_CHOOSE[preset].rule if preset else None,
            preset=preset,
            name=name.strip(),
            any_size=any_size,
        )
        data = machine_read(content, wanted, form)
        rule_require(data.game, data.rule)
    except (ExchangeError, GameTooLargeError, RuleRefusedError, UnknownGameError) as error:
        raise MachineFileError(str(error)) from None
    return Imported(_restored(user, data), data)


@transaction.atomic
def _restored(user: AnyUser | None, data: Document) -> Machine:
    if user is not None:
        machine_quota_require(user)
    kind = kind_of_rule(data.rule)
    details = kind.files.fields_read(data)
    if user is not None and kind.memory.copies_rows:
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
    standing_open(machine)
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
    machine = _locked(machine_id, user, to="edit")
    wanted = {"name": name, "description": description, "learns": learns, "is_public": is_public}
    given = {field: value for field, value in wanted.items() if value is not None}
    for field, value in given.items():
        setattr(machine, field, value)
    machine.save(update_fields=list(given))
    return machine


@transaction.atomic
def machine_reset(*, user: AnyUser, machine_id: int) -> Machine:
    """Put a machine back to where its rule begins: it forgets every lesson, and its ledger begins anew.

    Training runs and their curves stay, as what has happened. The number of its last lesson counts on, so that
    nothing that was kept under an earlier number is ever taken for the machine as it now is.

    Raises:
        MachineNotFoundError, NotYourMachineError.
        MachineBusyError: it is being trained.
    """
    _lock_with_key(machine_id)
    machine = _locked(machine_id, user, to="edit")
    _require_idle(machine)
    memory = kind_of(machine).memory
    memory.forget(machine)
    machine.snapshots.all().delete()
    Lesson.objects.filter(machine=machine).delete()
    counts = ["n_games", "n_wins", "n_draws", "n_losses", "n_removed", "n_values"]
    new = dict.fromkeys(counts, 0) | memory.fields_new(machine.rule)
    for field, value in new.items():
        setattr(machine, field, value)
    memory.reset(machine)
    machine.n_lessons += 1
    machine.n_forgotten, machine.n_folded, machine.folded_at = machine.n_lessons, 0, None
    machine.save(update_fields=["n_lessons", "n_forgotten", "n_folded", "folded_at", *new])
    standing_reset(machine)
    return machine


@transaction.atomic
def machine_delete(*, user: AnyUser, machine_id: int) -> None:
    """Delete a machine with its boxes, its ledger and its training runs, those that go on as well.

    Matches it played stay, and what others learnt from it. A run of another machine that comes to it as an opponent
    stops there: the next chunk finds it gone.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    _deletion_begin(machine_id)
    _delete(_locked(machine_id, user, to="delete"))


def _deletion_begin(machine_id: int) -> None:
    """Lock what a deletion needs. Call inside its transaction, before anything else."""
    # One deletion after the other: two machines that trained against each other would each wait for the other's runs.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DELETIONS])
    _lock_with_key(machine_id)


def _lock_with_key(machine_id: int) -> None:
    """Lock a machine whose past is about to end, before everything else.

    Who is about to refer to it or to share its boxes (machine_hold) waits, and finds it gone, or changed.
    """
    Machine.objects.select_for_update(of=("self",)).filter(pk=machine_id).first()


def _delete(machine: Machine) -> None:
    names_forget([machine.pk])
    kind_of(machine).memory.unshare(machine)
    machine_rows_delete(machine)
    machine.delete()


def copies_clear(*, user_id: int | None, guest: UUID | None, address: str) -> None:
    """Of the copies made for the rooms of a person, and for guests of an address, keep the last that were played.

    They are so many at most, and have so many values together. A copy in a match that is being
    played, or in training, never goes. Call outside any transaction: each deletion is one of its own.
    """
    bounds: list[tuple[RoomsOf, int, int]] = []
    if user_id is not None:
        bounds.append((("account", user_id), settings.COPIES_PER_ACCOUNT, settings.VALUES_PER_ACCOUNT))
    elif guest is not None:
        bounds.append((("guest", guest), settings.COPIES_PER_GUEST, settings.VALUES_PER_GUEST))
    if address:
        bounds.append((("address", address), settings.COPIES_PER_ADDRESS, settings.VALUES_PER_ADDRESS))
    for whose, most, most_values in bounds:
        stored = copies_of(whose, guests_alone=whose[0] == "address")  # what has just gone no longer counts
        together = accumulate(n_values for _, n_values in stored)
        n_kept = min(most, sum(n <= most_values for n in together))
        beyond = Machine.objects.filter(pk__in=[pk for pk, _ in stored[n_kept:]])
        # Most of them may be in use: those are left out at once, and what is left is asked again under its locks.
        in_use = Exists(rooms_open(Room.objects.filter(pk=OuterRef("room_id"))))
        for copy_id in beyond.exclude(in_use).values_list("pk", flat=True):
            _copy_delete(copy_id)


def _rooms_at(address: str) -> QuerySet[Room]:
    """The rooms opened from an address."""
    return Room.objects.filter(opened_from=address) if address else Room.objects.none()


def _guests_copies(rooms: QuerySet[Room]) -> QuerySet[Machine]:
    """The copies made for these rooms, those aside that count with an account."""
    return Machine.objects.filter(room__in=rooms, owner__isnull=True)


def guests_values_require(guest: UUID | None, address: str, n_more: int | None = None) -> None:
    """Refuse a guest, or an address, whose copies would have too many values together.

    Those in open rooms count: all others make way (:func:`copies_clear`). Asked for ``n_more`` before they are copied,
    and without it, under locks, when they have been.

    Raises:
        ValueQuotaError.
    """
    mine, here = rooms_of(user_id=None, guest=guest), _rooms_at(address)
    for name, rooms, most, whose in (
        (f"values of address {address}", here, settings.VALUES_PER_ADDRESS, "played where you are"),
        (f"values of guest {guest}", mine, settings.VALUES_PER_GUEST, "that a guest plays"),
    ):
        if n_more is None:
            count_lock(name)
        in_use = _guests_copies(rooms_open(rooms))
        n_values = in_use.aggregate(n=Sum("n_values", default=0))["n"]
        if n_values + (n_more or 0) > most:
            raise ValueQuotaError(
                f"The copies {whose} may have {most:,} values together, and with this game they would have more."
                " Finish a game or give one up first, or play the machine itself."
            )


@transaction.atomic
def _copy_delete(copy_id: int) -> None:
    """Delete a copy made for a room, unless somebody has it in use."""
    _deletion_begin(copy_id)
    copy = Machine.objects.filter(pk=copy_id).first()
    if copy is None or runs_teaching(copy).exists() or rooms_open(Room.objects.filter(fresh_machines=copy)).exists():
        return
    _delete(copy)


def guest_lock(guest: UUID | None) -> None:
    """Let nobody else make or hand over machines of a visitor until this transaction ends; before machines."""
    count_lock(f"machines of guest {guest}")


def machine_quota_require(user: AnyUser) -> None:
    """Refuse an account, or a visitor, that has as many machines as it may. Copies made for rooms do not count.

    Call before anything else in the transaction that makes another.

    Raises:
        MachineQuotaError.
        GuestMovedError: what the visitor had has gone to an account since they asked.
    """
    if isinstance(user, Visitor):
        site_require("learning_machine")
        most = settings.MACHINES_PER_GUEST
        guest_lock(user.guest)
        if user.guest is not None and MovedGuest.objects.filter(guest=user.guest).exists():
            raise GuestMovedError
        n_machines = Machine.objects.filter(guest=user.guest).count()
        if n_machines >= most:
            raise MachineQuotaError(
                f"A browser may keep {most} machines, and yours has {n_machines}. Delete one first."
            )
        _address_quota_require(user.address)
        return
    site_require("learning_machine")
    most, account = settings.MACHINES_PER_ACCOUNT, cast("User", user)
    quota_require(
        account,
        Machine.objects.filter(owner=account, room__isnull=True),
        most,
        lambda n: MachineQuotaError(f"An account may have {most} machines, and you have {n}. Delete one first."),
    )


def _address_quota_require(address: str) -> None:
    """Refuse a guest where guests have as many machines as they may, counted under a lock near the bound alone."""
    most = settings.MACHINES_PER_ADDRESS
    here = Machine.objects.filter(made_from=address)
    n_machines = here.count() if address else 0
    if address and n_machines + MAX_CONCURRENT_TRANSACTIONS > most:
        count_lock(f"machines of address {address}")
        n_machines = here.count()
    if n_machines >= most:
        raise MachineQuotaError(
            f"Visitors where you are keep {most:,} machines, as many as may be. Make an account or log in, and"
            " you have machines of your own."
        )


def values_quota_require(user: User, n_more: int) -> None:
    """Refuse an account so many values at once, if its machines would have more together than they may.

    Call under the lock of the account.

    Raises:
        ValueQuotaError.
    """
    most = settings.VALUES_PER_ACCOUNT
    left = values_left(user.pk)
    if n_more > left:
        raise ValueQuotaError(
            f"The machines of an account may have {most:,} values together. There is room for {left:,}, this one has"
            f" {n_more:,}. Delete or reset one first, or wait for a training to end."
        )


def _locked(machine_id: int, user: AnyUser | None = None, *, to: To | None = None) -> Machine:
    """The machine, locked, and checked for what the user is about to do. Call inside a transaction.

    Raises:
        MachineNotFoundError, NotYourMachineError.
    """
    (machine,) = machine_lock(machine_id)
    if to is not None:
        machine_require(user, machine, to=to)
    return machine


def _require_idle(machine: Machine) -> None:
    if runs_teaching(machine).exists():
        raise MachineBusyError
