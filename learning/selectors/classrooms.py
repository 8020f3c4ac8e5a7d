"""Look-ups of classes and pupils, and the generated names of pupils."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from games.accounts.identity import PupilFacts
from games.accounts.principal import AnyUser, Principal
from games.codes import parse_code
from games.exceptions import NotACodeError
from learning.exceptions import ClassNotFoundError, NoPupilError, NoResultsError, NotYourClassError, PupilRemovedError
from learning.models import ClassFinal, Classroom, Lesson, MachineSeat, Participant

ADJECTIVES = (
    *("Brave", "Bright", "Busy", "Calm", "Cheerful", "Clever", "Cosy", "Curious", "Daring", "Eager", "Fair", "Fast"),
    *("Friendly", "Funny", "Gentle", "Golden", "Happy", "Honest", "Jolly", "Keen", "Kind", "Lively", "Lucky", "Merry"),
    *("Mighty", "Neat", "Nimble", "Patient", "Polite", "Proud", "Quick", "Quiet", "Ready", "Silver", "Smart", "Sunny"),
    *("Swift", "Tidy", "Warm", "Wise"),
)
ANIMALS = (
    *("Badger", "Bear", "Beaver", "Bee", "Camel", "Cat", "Crane", "Deer", "Dolphin", "Dove", "Duck", "Eagle", "Falcon"),
    *("Finch", "Fox", "Frog", "Giraffe", "Goose", "Hare", "Hedgehog", "Heron", "Horse", "Koala", "Lion", "Lynx"),
    *("Mole", "Moose", "Otter", "Owl", "Panda", "Parrot", "Pony", "Puffin", "Rabbit", "Raven", "Robin", "Seal"),
    *("Swan", "Tiger", "Turtle"),
)


LARGE_FINAL_FIELDS = ("classroom__final__found", "classroom__final__results")
"""The large fields of a final, which only the page of the results and the projector read."""


def pupil_name(first: int, second: int) -> str:
    """Return a generated name of two friendly words; any two numbers stand for one."""
    return f"{ADJECTIVES[first % len(ADJECTIVES)]} {ANIMALS[second % len(ANIMALS)]}"


def classrooms_of(user: AnyUser) -> list[Classroom]:
    """Return the classes of an account, newest first."""
    return list(Classroom.objects.filter(teacher=user.pk).order_by("-pk")) if user.pk is not None else []


def classrooms_unused() -> QuerySet[Classroom]:
    """Return the classes that were opened, played and taught last more than ``KEEP_GUEST_MACHINES_DAYS`` ago."""
    cutoff = timezone.now() - timedelta(days=settings.KEEP_GUEST_MACHINES_DAYS)
    was_played = MachineSeat.objects.filter(
        machine__classroom=OuterRef("pk"), seat__match__room__changed_at__gte=cutoff
    )
    was_taught = Lesson.objects.filter(machine__classroom=OuterRef("pk"), created_at__gte=cutoff)
    return Classroom.objects.filter(~Exists(was_played), ~Exists(was_taught), created_at__lt=cutoff)


def classroom_of(user: AnyUser, classroom_id: int) -> Classroom:
    """Return a class of this account, with its link.

    Raises:
        NotYourClassError.
    """
    classrooms = _classrooms().select_related("link").filter(pk=classroom_id, teacher=user.pk)
    classroom = None if user.pk is None else classrooms.first()
    if classroom is None:
        raise NotYourClassError
    return classroom


def pupils_of(classroom: Classroom) -> list[Participant]:
    """Return the pupils of a class that have a machine, in the order in which they joined.

    The machine and its figures in lists are loaded too.
    """
    pupils = classroom.participants.select_related("machine__standing")
    return list(pupils.filter(machine__isnull=False).order_by("number"))


def _classrooms() -> QuerySet[Classroom]:
    """Return all classes with their finals, without the large fields."""
    return Classroom.objects.select_related("final").defer("final__found", "final__results")


def classroom_with_final(classroom_id: int) -> Classroom | None:
    """Return a class with its final, if there is one."""
    return _classrooms().filter(pk=classroom_id).first()


def final_of(classroom: Classroom) -> ClassFinal | None:
    """Return the final of a class, or ``None``; the relation is loaded by a query if the caller has not loaded it."""
    try:
        return classroom.final
    except ClassFinal.DoesNotExist:
        return None


def final_on_pages(classroom: Classroom) -> ClassFinal | None:
    """Return the final that the pages of a class show: a finished one, until the class is opened again."""
    final = final_of(classroom)
    return final if final is not None and final.is_on_pages else None


def results_of(classroom: Classroom) -> ClassFinal:
    """Return the finished final of a class.

    Raises:
        NoResultsError: there is none.
    """
    final = final_of(classroom)
    if final is None or not final.is_finished:
        raise NoResultsError
    return final


def classroom_for_viewer(viewer: Principal, classroom_id: int) -> tuple[Classroom, Participant | None]:
    """Return a class that the viewer may see, and the viewer as its pupil (``None`` for other viewers).

    The teacher, the pupils, and browsers that have opened its link may see it. For a pupil, one query is enough,
    because open pages of a class ask often.

    Raises:
        NotYourClassError.
    """
    if viewer.guest is not None:
        pupils = (
            Participant.objects.select_related("classroom__final")
            .defer(*LARGE_FINAL_FIELDS)
            .filter(classroom=classroom_id)
        )
        pupil = pupils.filter(guest=viewer.guest, machine__isnull=False).first()
        if pupil is not None:
            return pupil.classroom, pupil
    classroom = _classrooms().filter(pk=classroom_id).first()
    if classroom is None or not (viewer.user_id == classroom.teacher_id or classroom.link_id in viewer.links):
        raise NotYourClassError
    return classroom, None


def classroom_by_secret(secret: str) -> Classroom:
    """Return the class that pupils join by a link with this secret.

    Raises:
        ClassNotFoundError.
    """
    classroom = Classroom.objects.filter(secret=secret).first()
    if classroom is None:
        raise ClassNotFoundError("There is no class with this link. Ask your teacher for the code.")
    return classroom


def classroom_on_screen(secret: str) -> Classroom:
    """Return the class that a projector shows by a link with this secret.

    Raises:
        ClassNotFoundError.
    """
    classroom = _classrooms().select_related("link").filter(link__secret=secret).first()
    if classroom is None:
        raise ClassNotFoundError("There is no class with this link. Open the page of the class, and copy it again.")
    return classroom


def find_by_code(text: str) -> Classroom | Participant:
    """Return the class with this code, or the pupil with this return code, as it was typed.

    Raises:
        ClassNotFoundError: no class and no pupil has this code.
        PupilRemovedError: the pupil was taken out of the class.
    """
    try:
        code = parse_code(text)
    except NotACodeError:
        raise ClassNotFoundError("A code has six letters and digits. Look at the board, and type it again.") from None
    classroom = Classroom.objects.filter(code=code).first()
    if classroom is not None:
        return classroom
    participant = _participants().filter(code=code).first()
    if participant is None:
        raise ClassNotFoundError
    return _require_present(participant)


def _participants() -> QuerySet[Participant]:
    related = ("classroom__final", "machine", "merged_into__classroom", "merged_into__machine")
    return Participant.objects.select_related(*related).defer(*LARGE_FINAL_FIELDS)


def _require_present(participant: Participant) -> Participant:
    present = participant.merged_into or participant
    if present.machine_id is None:
        raise PupilRemovedError
    return present


def participant_of_browser(pupil: PupilFacts | None, guest: str) -> Participant:
    """Return the pupil of a browser, with the class and the machine.

    Args:
        pupil: the facts in the session.
        guest: the guest number in the session, in hexadecimal.

    Raises:
        NoPupilError: the browser has no pupil, or the pupil has moved to another device, or the class was deleted.
        PupilRemovedError: the pupil was taken out of the class.
    """
    participant = None if pupil is None else _participants().filter(pk=pupil["participant"]).first()
    if participant is None:
        raise NoPupilError
    if participant.guest.hex != guest and participant.merged_into is None:
        raise NoPupilError("This machine is now at another device. Type your return code to get it back.")
    return _require_present(participant)
