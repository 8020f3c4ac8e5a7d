"""Access to machines: pages, API, sockets, commands and services all use these rules.

* *see*, *play* and *export*: for a public machine, every visitor; for a private one, its owner, and staff with the
  permission to view or change machines. The owner is an account, or a guest by the number of their browser. Machines of
  guests are never public. A copy made for a room is as public as its original was then, but in no list: every visitor
  with its address sees it.
* *see* and *copy*, to play a copy made for a room, and nothing else: a browser that has opened the secret link of a
  machine (:class:`SharedLink`). Lists, training runs and the API's tokens ignore links.
* *share* it by a secret link: its owner alone.
* *train* and *edit*: its owner, and staff with the permission to change machines. *delete*: its owner, and staff with
  the permission to delete them. A machine of the house has no owner, so staff alone.

Staff status opens the admin, and nothing else: :func:`staff_may` asks for the permission.

A hidden machine is refused with the same 404 as a machine that does not exist. :func:`may_see` decides on a machine in
memory; :func:`unseen` is the same rule for the database.
"""

from __future__ import annotations

from typing import Any, Literal

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Value

from beadbox.names import MAX_SLUG_CHARACTERS, name_near
from games.accounts.principal import AnyUser, Principal
from learning.exceptions import MachineNotFoundError, NotYourMachineError, RunNotFoundError
from learning.models import AccessList, Machine, MachineSeat, TrainingRun, link_mark
from learning.storage.locks import machine_held

To = Literal["see", "copy", "play", "export", "train", "edit", "delete", "share"]

SEE_MACHINES = ("view_machine", "change_machine")
"""Permissions of which any one lets staff see every machine."""


def staff_may(user: AnyUser | None, *permissions: str) -> bool:
    """Whether the user is staff and has one of these permissions (``change_machine``).

    Only the permissions of staff are read, once for each object of an account.
    """
    if user is None or not user.is_staff:
        return False
    return any(user.has_perm(f"learning.{permission}") for permission in permissions)


def row_id(text: str) -> int | None:
    """Return the id in a text; ``None`` if no row can have such an id."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def machine_find(ref: str, *, hold: bool = False) -> Machine:
    """Return the machine with this id or slug; with ``hold`` it cannot be deleted or reset until the transaction ends.

    Raises:
        MachineNotFoundError: there is none.
    """
    pk = row_id(ref)
    by: dict[str, Any] = {"slug": ref} if pk is None else {"pk": pk}
    machine = None
    if "\0" not in ref:  # PostgreSQL refuses the character altogether
        machine = machine_held(**by) if hold else Machine.objects.filter(**by).first()
    if machine is None:
        raise MachineNotFoundError(f"There is no machine {ref!r}.")
    return machine


def machine_for(
    user: AnyUser | None, ref: str | int, *, to: To = "see", hold: bool = False, known: Machine | None = None
) -> Machine:
    """Return the machine with this id or slug, if the user may do this with it.

    Args:
        user: an account, an anonymous user or ``None``.
        ref: the machine's id or slug.
        to: the intended use.
        hold: as for :func:`machine_find`.
        known: the machine, if it has just been read; then it is not held.

    Raises:
        MachineNotFoundError: there is none, or none that this user may see.
        NotYourMachineError: the user may look at it, but not do this.
    """
    # Before the look-up, so that a response for which a session was read has the header Vary, even if it is a 404.
    viewer = Principal.of(user)
    try:
        machine = known or machine_find(str(ref), hold=hold)
        machine_require(user, machine, to=to)
    except MachineNotFoundError:
        raise _machine_missing(viewer, str(ref)) from None
    return machine


def _machine_missing(viewer: Principal, ref: str) -> MachineNotFoundError:
    """Return the refusal of a machine that does not exist or may not be seen, with a similar slug as a suggestion.

    Suggestions come from machines of the house and those of the viewer: two short lists on a site of any size.
    """
    house, own = Q(owner=None, guest=None, is_public=True, room=None), owned_by(viewer)
    slugs = (
        ()
        if row_id(ref)
        else Machine.objects.filter(house if own is None else house | own).values_list("slug", flat=True)
    )
    near = name_near(ref, slugs)
    more = f" Did you mean {near}?" if near else ""
    return MachineNotFoundError(
        f"There is no machine {ref[:MAX_SLUG_CHARACTERS]!r}, or its owner keeps it private.{more}"
    )


def machine_require(user: AnyUser | None, machine: Machine, *, to: To = "see") -> None:
    """Refuse unless the user may do this with the machine.

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
    if to == "share":
        raise NotYourMachineError(f"{machine.name} is not yours. Only its owner can share it.")
    if not staff_may(user, "delete_machine" if to == "delete" else "change_machine"):
        raise NotYourMachineError(f"{machine.name} is not yours. You may look at it, play it and copy it.")


def may_see(viewer: Principal, audience: AccessList) -> bool:
    """Whether the viewer may look at a machine with this :attr:`Machine.audience`, and know that it exists."""
    if audience is None or viewer.sees_all:
        return True
    # A browser may keep its guest number after the log-in, so the number counts only without an account.
    own = viewer.guest.hex if viewer.user_id is None and viewer.guest is not None else viewer.user_id
    if own in audience:
        return True
    return any(link_mark(link_id) in audience for link_id in viewer.links)


def unseen(viewer: Principal, path: str = "") -> Q:
    """Return a filter for rows of machines (at the end of ``path``, ``machine__``) that the viewer may not see.

    The opposite of :func:`may_see`, except that links do not count: a machine opened by a link is in no list.
    """
    if viewer.sees_all:
        return Q(pk__in=[])
    private, own = Q(**{f"{path}is_public": False}), owned_by(viewer, path)
    return private if own is None else private & ~own


def is_seen(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the user may look at the machine, and know that it exists."""
    return may_see(Principal.of(user), machine.audience)


def is_lent(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the user may look at the machine only because of a shared link."""
    return not may_see(Principal.of(user).without_links, machine.audience)


def owned_by(viewer: Principal, path: str = "") -> Q | None:
    """Return a filter for rows of machines (at the end of ``path``) that belong to the viewer; ``None``: none can."""
    if viewer.user_id is not None:
        return Q(**{f"{path}owner": viewer.user_id})
    return None if viewer.guest is None else Q(**{f"{path}guest": viewer.guest})


def is_own(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the machine is the user's own, by account or browser."""
    viewer = Principal.of(user)
    if viewer.user_id is not None:
        return machine.owner_id == viewer.user_id
    return viewer.guest is not None and machine.guest == viewer.guest


def can_edit(user: AnyUser | None, machine: Machine) -> bool:
    """Whether the user may train and change the machine, as its owner or as staff with that permission."""
    return is_own(user, machine) or staff_may(user, "change_machine")


def machines_visible(user: AnyUser | None) -> QuerySet[Machine]:
    """Every machine that a list may show to this user: public ones except copies of rooms, and their own."""
    viewer = Principal.of(user)
    if viewer.sees_all:
        return Machine.objects.all()
    listed, own = Q(is_public=True, room__isnull=True), owned_by(viewer)
    return Machine.objects.filter(listed if own is None else listed | own)


def cause_hidden(viewer: Principal, lesson: str = "") -> Any:
    """Whether the match or run of a lesson (at the end of ``lesson``, ``lesson__``) must not be named.

    A match is hidden if the viewer may not see a machine in it, and a run if it was such a machine's.
    """
    if viewer.sees_all:
        return Value(False)
    hidden = unseen(viewer, "machine__")
    seats = MachineSeat.objects.filter(hidden, seat__match=OuterRef(f"{lesson}match"))
    runs = TrainingRun.objects.filter(hidden, pk=OuterRef(f"{lesson}run"))
    return ExpressionWrapper(Q(Exists(seats)) | Q(Exists(runs)), output_field=BooleanField())


def run_for(user: AnyUser | None, run_id: int, *, to: To = "see") -> TrainingRun:
    """Return the training run, with its machine and stages read, if the user may do this with its machine.

    Raises:
        RunNotFoundError: there is none, or its machine may not be seen.
        NotYourMachineError: the user may watch it, but not do this.
    """
    viewer = Principal.of(user).without_links  # first, as in machine_for
    runs = TrainingRun.objects.select_related("machine").prefetch_related("stages__opponent_machine")
    run = runs.filter(pk=run_id).first()
    if run is None or not may_see(viewer, run.machine.audience):
        raise RunNotFoundError
    machine_require(user, run.machine, to=to)
    return run


def runs_visible(user: AnyUser | None) -> QuerySet[TrainingRun]:
    """Return the training runs of every machine that a list may show to this user."""
    return TrainingRun.objects.filter(machine__in=machines_visible(user))
