"""Pupils of a class: they join, play, and are renamed, hidden, moved, merged and removed."""

from __future__ import annotations

import random
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Max

from beadbox.names import name_key, name_problem
from beadbox.rules.outcome import Side
from games.accounts.principal import AnyUser, Principal
from games.limits.quotas import site_require
from games.live.match_lists import room_in_play
from games.live.players import MACHINE
from games.live.rooms import SeatResult, room_create
from games.models import Seat, new_code
from learning.exceptions import (
    ClassFinishedError,
    ClassFullError,
    ClassLockedError,
    ClassPausedError,
    ClassRefusedError,
    NoPupilError,
    NotYourClassError,
    PupilNameError,
    PupilRemovedError,
)
from learning.models import MAX_PUPIL_NAME_LENGTH, Classroom, ClassStatus, Machine, Participant, class_sides
from learning.selectors.classrooms import pupil_name
from learning.services.classrooms import MAX_PUPILS, class_machine_remove, classroom_lock
from learning.services.copies import machine_clone
from learning.services.personal_machines import personal_machine_name


@transaction.atomic
def participant_join(
    *, classroom_id: int, guest: UUID, name_numbers: tuple[int, int], typed_name: str = ""
) -> Participant:
    """Add a pupil with a new machine to a class. The same new guest number joins once.

    Args:
        classroom_id: the class, which the caller has found by its code or its link.
        guest: a new random number for the browser, from the page on which the pupil joins.
        name_numbers: the two numbers of the chosen generated name (:func:`learning.selectors.classrooms.pupil_name`).
            If another pupil has this name, the pupil gets the next free name.
        typed_name: a first name, if the class allows typed names.

    Raises:
        ClassFinishedError, ClassLockedError, ClassFullError, PupilNameError, SiteFullError.
    """
    classroom = Classroom.objects.select_for_update(of=("self",), no_key=True).get(pk=classroom_id)
    joined = classroom.participants.filter(guest=guest).first()
    if joined is not None:
        return joined
    if classroom.status == ClassStatus.FINISHED:
        raise ClassFinishedError
    if classroom.is_locked:
        raise ClassLockedError
    present = list(classroom.participants.exclude(machine=None))
    if len(present) >= MAX_PUPILS:
        raise ClassFullError
    site_require("learning_machine")
    taken = {name_key(one.name) for one in present}
    typed_name = _check_name(classroom, typed_name, taken) if typed_name.strip() and classroom.allows_names else ""
    number = (classroom.participants.aggregate(last=Max("number"))["last"] or 0) + 1
    name = typed_name or _free_name(name_numbers, taken)
    participant = Participant(classroom=classroom, number=number, name=name, is_typed=bool(typed_name), guest=guest)
    participant.machine = _create_machine(participant)
    participant.save()
    return participant


def _create_machine(participant: Participant) -> Machine:
    """Create a pupil's machine, on the side with fewer machines of the class."""
    classroom = participant.classroom
    counts = dict.fromkeys(class_sides(classroom.side), 0)
    for side in Machine.objects.filter(classroom=classroom, pupil__isnull=False).values_list("side", flat=True):
        counts[Side(side or 0)] += 1
    side = min(counts, key=lambda one: counts[one])
    untaught = Machine.objects.get(classroom=classroom, pupil=None, side=side)
    name = f"Pupil {participant.number}" if participant.is_typed else participant.name
    return machine_clone(
        machine_id=untaught.pk,
        name=f"{name}’s {personal_machine_name(classroom.game_rules, side)}"[:80],
        classroom=classroom,
        pupil=participant.guest,
        share=classroom.link,
        is_paused=not classroom.is_open,
    )


def _free_name(name_numbers: tuple[int, int], taken: set[str]) -> str:
    first, second = name_numbers
    for step in range(MAX_PUPILS + 1):
        name = pupil_name(first + step, second)
        if name_key(name) not in taken:
            return name
    raise PupilNameError


def _check_name(classroom: Classroom, text: str, taken: set[str]) -> str:
    """Return a typed first name, or refuse it.

    Raises:
        PupilNameError: the name is too long, cannot be shown, or another person of the class has it.
    """
    name = " ".join(text.split())
    if len(name) > MAX_PUPIL_NAME_LENGTH:
        raise PupilNameError(f"A name can have {MAX_PUPIL_NAME_LENGTH} letters at most. Type a shorter one.")
    if problem := name_problem(name):
        raise PupilNameError(problem)
    key = name_key(name)
    if key in taken:
        raise PupilNameError("Another pupil has this name. Add a letter to yours.")
    if key in (name_key(classroom.teacher.get_username()), "teacher", "the teacher"):
        raise PupilNameError("This is the name of your teacher. Type your own first name.")
    return name


def participant_play(participant: Participant) -> SeatResult:
    """Seat a pupil against their machine; resume a match in progress.

    Raises:
        PupilRemovedError, ClassFinishedError, ClassPausedError, RoomQuotaError.
    """
    machine, classroom = participant.machine, participant.classroom
    if machine is None:
        raise PupilRemovedError
    if classroom.status == ClassStatus.FINISHED:
        raise ClassFinishedError
    if not classroom.is_open:
        raise ClassPausedError
    person = pupil_principal(participant)
    assert machine.side is not None, "a machine with boxes plays one side"
    side = Side(machine.side).other
    open_room = room_in_play(("guest", participant.guest), opponent=MACHINE, machine=str(machine.pk))
    if open_room is not None:
        return SeatResult(open_room, side, "")
    return room_create(person=person, game=machine.game, opponent=MACHINE, machine=str(machine.pk), side=side)


def pupil_principal(participant: Participant) -> Principal:
    """Return the principal of a pupil, even in a browser that is logged in. Quotas count each pupil separately."""
    return Principal(guest=participant.guest, name=seat_name(participant), address=participant.guest.hex)


def seat_name(participant: Participant) -> str:
    """Return the name of a pupil in matches, which outlive the class: never a typed name."""
    return f"Pupil {participant.number}" if participant.is_typed or not participant.name else participant.name


def _lock_pupil(user: AnyUser, participant_id: int) -> Participant:
    """Lock the class of a pupil, and return the pupil.

    Raises:
        NotYourClassError: the pupil is in no class of this account.
        NoPupilError: the pupil was removed or merged.
    """
    participant = Participant.objects.select_related("classroom__teacher", "machine").filter(pk=participant_id).first()
    if participant is None:
        raise NotYourClassError
    classroom_lock(user, participant.classroom_id)
    participant.refresh_from_db(fields=["machine", "guest", "name", "merged_into"])
    if participant.machine is None:
        raise NoPupilError("This pupil is no longer in the class.")
    return participant


@transaction.atomic
def participant_rename(*, user: AnyUser, participant_id: int, name: str) -> Participant:
    """Change the typed first name of a pupil.

    Raises:
        NotYourClassError, NoPupilError, PupilNameError.
    """
    participant = _lock_pupil(user, participant_id)
    if not participant.is_typed:
        raise PupilNameError("This name was generated. Only a typed name can be changed.")
    others = participant.classroom.participants.exclude(pk=participant.pk).exclude(machine=None)
    taken = {name_key(other) for other in others.values_list("name", flat=True)}
    participant.name = _check_name(participant.classroom, name, taken)
    participant.save(update_fields=["name"])
    return participant


@transaction.atomic
def participant_hide(*, user: AnyUser, participant_id: int, is_hidden: bool) -> Participant:
    """Show a number for the name of a pupil, or the name again.

    Raises:
        NotYourClassError, NoPupilError.
    """
    participant = _lock_pupil(user, participant_id)
    participant.is_hidden = is_hidden
    participant.save(update_fields=["is_hidden"])
    return participant


@transaction.atomic
def participant_remove(*, user: AnyUser, participant_id: int) -> None:
    """Take a pupil out of a class, with the machine.

    Raises:
        NotYourClassError, NoPupilError.
    """
    participant = _lock_pupil(user, participant_id)
    _leave_class(participant)


def _leave_class(participant: Participant, merged_into: Participant | None = None) -> None:
    assert participant.machine_id is not None, "the caller has checked it"
    machine_id = participant.machine_id
    participant.machine, participant.name, participant.merged_into = None, "", merged_into
    participant.save(update_fields=["machine", "name", "merged_into"])
    class_machine_remove(machine_id)


@transaction.atomic
def participant_merge(*, user: AnyUser, participant_id: int, into_id: int) -> Participant:
    """Merge two pupils of a class. The browsers of both continue with the machine of the second.

    Raises:
        NotYourClassError, NoPupilError.
        ClassRefusedError: both are the same, or they are in different classes.
    """
    participant, into = _lock_pupil(user, participant_id), _lock_pupil(user, into_id)
    if participant.pk == into.pk or participant.classroom_id != into.classroom_id:
        raise ClassRefusedError("Choose two pupils of the same class.")
    _leave_class(participant, merged_into=into)
    Participant.objects.filter(merged_into=participant).update(merged_into=into)
    return into


@transaction.atomic
def participant_move(*, user: AnyUser, participant_id: int) -> Participant:
    """Give a pupil a new return code and take the machine from the browsers that have it, for another device.

    A match in progress goes on at the new device.

    Raises:
        NotYourClassError, NoPupilError.
    """
    participant = _lock_pupil(user, participant_id)
    before, participant.guest, participant.code = participant.guest, uuid4(), new_code()
    participant.save(update_fields=["guest", "code"])
    Machine.objects.filter(participant=participant).update(pupil=participant.guest)
    Seat.objects.filter(guest=before).update(guest=participant.guest)
    return participant


def random_name_numbers() -> tuple[int, int]:
    """Return two random numbers that stand for a generated name (:func:`learning.selectors.classrooms.pupil_name`)."""
    return random.randrange(1_000), random.randrange(1_000)
