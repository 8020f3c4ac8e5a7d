"""Access to machines: pages, API, sockets, commands and services all use these rules.

The uses of a machine, and the users that have them:

* *see*, *play*, *export*: every visitor, if the machine is public. If it is private, its owner, and staff with the
  permission to view or change machines.
* *see*, *copy* (play a copy made for a room): also a browser that has opened the secret link of the machine
  (:class:`SharedLink`). Lists, training runs and API tokens ignore links.
* *share* (create a secret link): the owner only.
* *train*, *edit*: the owner, and staff with the permission to change machines.
* *delete*: the owner, and staff with the permission to delete machines.

The owner is an account, or a guest, who is identified by a number in the browser. Machines of guests are never public.
House machines have no owner. A machine of a class belongs to the class: its pupil may see, play and export it, and the
link of the class shows it. Only the page of the class changes it. A copy made for a room is public if its original was
public at that moment, but no list shows it. Staff status alone only opens the admin; :func:`staff_may` checks the
permission.

A hidden machine is refused with the same 404 as a machine that does not exist. :func:`may_see` decides for a machine in
memory; :func:`hidden_from` is the same rule as a database filter.
"""

from __future__ import annotations

from typing import Any, Literal

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Value

from beadbox.names import MAX_SLUG_CHARACTERS, name_near
from games.accounts.principal import AnyUser, Principal
from learning.exceptions import MachineNotFoundError, NotYourMachineError, RunNotFoundError
from learning.models import AccessList, Machine, MachineSeat, TrainingRun, link_entry, pupil_entry
from learning.storage.locks import machine_hold_get

MachineUse = Literal["see", "copy", "play", "export", "train", "edit", "delete", "share"]
"""The uses of a machine for which access is checked."""

SEE_MACHINES = ("view_machine", "change_machine")
"""Permissions of staff; each of them is enough to see every machine."""


def staff_may(user: AnyUser | None, *permissions: str) -> bool:
    """Whether the user is staff and has at least one of these permissions, such as ``change_machine``.

    Permissions are read from the database only for staff, and once for each ``user`` object.
    """
    if user is None or not user.is_staff:
        return False
    return any(user.has_perm(f"learning.{permission}") for permission in permissions)


def row_id(text: str) -> int | None:
    """Parse the id of a row; return ``None`` if the text is no number that can be an id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def machine_find(ref: str, *, hold: bool = False) -> Machine:
    """Return the machine with this id or slug; with ``hold`` it cannot be deleted or reset until the transaction ends.

    Raises:
        MachineNotFoundError: there is no such machine.
    """
    pk = row_id(ref)
    key: dict[str, Any] = {"slug": ref} if pk is None else {"pk": pk}
    machine = None
    if "\0" not in ref:  # PostgreSQL refuses the character altogether
        machine = machine_hold_get(**key) if hold else Machine.objects.filter(**key).first()
    if machine is None:
        raise MachineNotFoundError(f"There is no machine {ref!r}.")
    return machine


def machine_for(
    user: AnyUser | None, ref: str | int, *, to: MachineUse = "see", hold: bool = False, known: Machine | None = None
) -> Machine:
    """Return the machine with this id or slug, if the user has access to it for the use ``to``.

    Args:
        user: an account, an anonymous user or ``None``.
        ref: the machine's id or slug.
        to: the intended use.
        hold: as for :func:`machine_find`.
        known: the machine, if it has just been read; it is then neither read again nor held.

    Raises:
        MachineNotFoundError: there is no such machine, or the user may not see it.
        NotYourMachineError: the user may see the machine, but not use it in this way.
    """
    # This reads the session first, so that even a 404 has the same header Vary as other responses.
    viewer = Principal.of(user)
    try:
        machine = known or machine_find(str(ref), hold=hold)
        machine_require(user, machine, to=to)
    except MachineNotFoundError:
        raise _machine_missing(viewer, str(ref)) from None
    return machine


def _machine_missing(viewer: Principal, ref: str) -> MachineNotFoundError:
    """Return the error for a machine that does not exist or is hidden, with a similar slug as a suggestion.

    Suggestions are slugs of house machines and of the viewer's own machines, which are few on a site of any size.
    """
    is_house, is_owned = Q(owner=None, guest=None, is_public=True, room=None), owned_by(viewer)
    slugs = (
        ()
        if row_id(ref)
        else Machine.objects.filter(is_house if is_owned is None else is_house | is_owned).values_list(
            "slug", flat=True
        )
    )
    similar = name_near(ref, slugs)
    suggestion = f" Did you mean {similar}?" if similar else ""
    return MachineNotFoundError(
        f"There is no machine {ref[:MAX_SLUG_CHARACTERS]!r}, or its owner keeps it private.{suggestion}"
    )


def machine_require(user: AnyUser | None, machine: Machine, *, to: MachineUse = "see") -> None:
    """Raise an error unless the user has access to the machine for the use ``to``.

    Raises:
        MachineNotFoundError, NotYourMachineError: as :func:`machine_for`.
    """
    viewer = Principal.of(user)
    if not may_see(viewer, machine.audience):
        raise MachineNotFoundError
    if to in ("see", "copy"):
        return
    if not may_see(viewer.without_links, machine.audience):
        raise NotYourMachineError(f"{machine.name} is shared with you by a link. You may look at it and play a copy.")
    if to in ("play", "export") or is_own(user, machine):
        return
    if machine.classroom_id is not None and not staff_may(user, "change_machine"):
        raise NotYourMachineError(f"{machine.name} belongs to a class. You can play it, and nothing else.")
    if to == "share":
        raise NotYourMachineError(f"{machine.name} is not yours. Only its owner can share it.")
    if not staff_may(user, "delete_machine" if to == "delete" else "change_machine"):
        raise NotYourMachineError(f"{machine.name} is not yours. You may look at it, play it and copy it.")


def may_use(user: AnyUser | None, machine: Machine, *, to: MachineUse) -> bool:
    """Whether the user has access to the machine for the use ``to``."""
    try:
        machine_require(user, machine, to=to)
    except (MachineNotFoundError, NotYourMachineError):
        return False
    return True


def may_see(viewer: Principal, audience: AccessList) -> bool:
    """Whether the viewer may see a machine with this :attr:`Machine.audience`, and know that it exists."""
    if audience is None or viewer.sees_all:
        return True
    # A browser keeps its guest number after the log-in. So the number counts only if there is no account.
    own_entry = viewer.guest.hex if viewer.user_id is None and viewer.guest is not None else viewer.user_id
    if own_entry in audience or (viewer.guest is not None and pupil_entry(viewer.guest) in audience):
        return True
    return any(link_entry(link_id) in audience for link_id in viewer.links)


def hidden_from(viewer: Principal, path: str = "") -> Q:
    """Return a filter for machines that the viewer may not see; ``path`` leads to the machine, as ``machine__``.

    The filter is the opposite of :func:`may_see`, but ignores links, because lists show no machines opened by a link.
    """
    if viewer.sees_all:
        return Q(pk__in=[])
    hidden = Q(**{f"{path}is_public": False})
    if (is_owned := owned_by(viewer, path)) is not None:
        hidden &= ~is_owned
    return hidden if viewer.guest is None else hidden & ~Q(**{f"{path}pupil": viewer.guest})


def is_seen(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the user may see the machine, and know that it exists."""
    return may_see(Principal.of(user), machine.audience)


def is_lent(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the user may see the machine only because of a shared link."""
    return not may_see(Principal.of(user).without_links, machine.audience)


def owned_by(viewer: Principal, path: str = "") -> Q | None:
    """Return a filter for machines that belong to the viewer; ``path`` as for :func:`hidden_from`.

    Returns ``None`` for a viewer without an account and a guest number, who cannot own machines.
    """
    if viewer.user_id is not None:
        return Q(**{f"{path}owner": viewer.user_id})
    return None if viewer.guest is None else Q(**{f"{path}guest": viewer.guest})


def is_own(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the machine belongs to the user: to the account, or to the guest number of the browser."""
    viewer = Principal.of(user)
    if viewer.user_id is not None:
        return machine.owner_id == viewer.user_id
    return viewer.guest is not None and machine.guest == viewer.guest


def can_edit(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the user may train and change the machine, as its owner or as staff with the permission."""
    return is_own(user, machine) or staff_may(user, "change_machine")


def machines_visible(user: AnyUser | None) -> QuerySet[Machine]:
    """Return all machines that a list may show to this user: own ones, and public ones except copies for rooms."""
    viewer = Principal.of(user)
    if viewer.sees_all:
        return Machine.objects.all()
    is_listed, is_owned = Q(is_public=True, room__isnull=True), owned_by(viewer)
    return Machine.objects.filter(is_listed if is_owned is None else is_listed | is_owned)


def cause_hidden(viewer: Principal, lesson: str = "") -> Any:
    """Return an expression: whether the match or run of a lesson is hidden from the viewer.

    A match is hidden if the viewer may not see one of its machines, and a run if the viewer may not see its machine.
    ``lesson`` is the path to the lesson, as ``lesson__``.
    """
    if viewer.sees_all:
        return Value(False)
    hidden = hidden_from(viewer, "machine__")
    seats = MachineSeat.objects.filter(hidden, seat__match=OuterRef(f"{lesson}match"))
    runs = TrainingRun.objects.filter(hidden, pk=OuterRef(f"{lesson}run"))
    return ExpressionWrapper(Q(Exists(seats)) | Q(Exists(runs)), output_field=BooleanField())


def run_for(user: AnyUser | None, run_id: int, *, to: MachineUse = "see") -> TrainingRun:
    """Return the training run, with machine and stages loaded, if the user may use its machine in the way ``to``.

    Raises:
        RunNotFoundError: there is no such run, or the user may not see its machine.
        NotYourMachineError: the user may see the machine, but not use it in this way.
    """
    viewer = Principal.of(user).without_links  # before the look-up, as in machine_for
    runs = TrainingRun.objects.select_related("machine").prefetch_related("stages__opponent_machine")
    run = runs.filter(pk=run_id).first()
    if run is None or not may_see(viewer, run.machine.audience):
        raise RunNotFoundError
    machine_require(user, run.machine, to=to)
    return run


def runs_visible(user: AnyUser | None) -> QuerySet[TrainingRun]:
    """Return the training runs of every machine that a list may show to this user."""
    return TrainingRun.objects.filter(machine__in=machines_visible(user))
