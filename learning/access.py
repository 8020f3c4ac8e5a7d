"""Who may do what with a machine, in one place: pages, API, sockets, commands and services all ask here.

* *see* and *play*: everybody for a public machine and for a copy made for a room (whoever has its address); else its
  owner and the staff.
* *train* and *edit*: its owner and the staff. A machine of the house has no owner, so the staff alone.

What may not be seen is not there: its refusal is the same 404 as that of a machine that does not exist.
"""

from __future__ import annotations

from typing import Any, Literal

from django.db.models import Q, QuerySet

from learning.exceptions import MachineNotFoundError, NotYourMachineError, RunNotFoundError
from learning.models import Machine, TrainingRun
from learning.selectors import machine_find

To = Literal["see", "play", "train", "edit"]


def machine_for(user: Any, ref: str | int, *, to: To = "see") -> Machine:
    """The machine with this id or slug, if the user may do this with it.

    Args:
        user: an account, an anonymous user or ``None``.
        ref: the machine's id or slug.
        to: what the user is about to do.

    Raises:
        MachineNotFoundError: there is none, or none that this user may see.
        NotYourMachineError: the user may look at it, and no more.
    """
    machine = machine_find(str(ref))
    try:
        machine_require(user, machine, to=to)
    except MachineNotFoundError:
        raise MachineNotFoundError(f"There is no machine {str(ref)!r}.") from None
    return machine


def machine_require(user: Any, machine: Machine, *, to: To = "see") -> None:
    """Refuse unless the user may do this with the machine.

    Raises:
        MachineNotFoundError, NotYourMachineError: as :func:`machine_for`.
    """
    if not is_seen(user, machine):
        raise MachineNotFoundError
    if is_master(user, machine):
        return
    if to not in ("see", "play"):
        raise NotYourMachineError(f"{machine.name} is not yours. You may look at it, play it and copy it.")


def is_seen(user: Any, machine: Machine) -> bool:
    """Whether the user may look at the machine, and know that there is one."""
    return machine.is_public or machine.room_id is not None or is_master(user, machine)


def is_master(user: Any, machine: Machine) -> bool:
    """Whether the user may do everything with the machine: its owner, or staff."""
    if user is None or not user.is_authenticated:
        return False
    return bool(user.is_staff) or machine.owner_id == user.pk


def machines_visible(user: Any) -> QuerySet[Machine]:
    """Every machine that a list may show to this user: public ones without copies of rooms, and their own."""
    if user is None or not user.is_authenticated:
        return Machine.objects.filter(is_public=True, room__isnull=True)
    if user.is_staff:
        return Machine.objects.all()
    return Machine.objects.filter(Q(is_public=True, room__isnull=True) | Q(owner=user))


def run_for(user: Any, run_id: int, *, to: To = "see") -> TrainingRun:
    """The training run, with its machine and stages read, if the user may do this with its machine.

    Raises:
        RunNotFoundError: there is none, or its machine may not be seen.
        NotYourMachineError: the user may watch it, and no more.
    """
    runs = TrainingRun.objects.select_related("machine").prefetch_related("stages__opponent_machine")
    run = runs.filter(pk=run_id).first() if 0 <= run_id < 1 << 63 else None
    if run is None:
        raise RunNotFoundError
    try:
        machine_require(user, run.machine, to=to)
    except MachineNotFoundError:
        raise RunNotFoundError from None
    return run


def runs_visible(user: Any) -> QuerySet[TrainingRun]:
    """The training runs of every machine that a list may show to this user."""
    return TrainingRun.objects.filter(machine__in=machines_visible(user))
