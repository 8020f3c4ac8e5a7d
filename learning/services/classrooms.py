"""Classes: open, change, reset and delete a class."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import cast

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from beadbox.learners.presets import ALL_PRESETS, presets_of
from beadbox.policies.registry import UNIFORM
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from games.accounts.principal import AnyUser
from games.limits.quotas import account_lock, site_require
from learning import tasks
from learning.exceptions import ClassQuotaError, ClassRefusedError, NotYourClassError
from learning.kinds.class_final import sides_require
from learning.kinds.class_table import delete_cached_table
from learning.models import ClassFinal, Classroom, ClassStatus, JobStatus, Machine, SharedLink, class_sides
from learning.services.machines import machine_clear, machine_create, machine_remove, preset_usual
from learning.services.personal_machines import personal_machine_name
from learning.storage.locks import deletion_lock, machine_lock_with_key
from learning.workers.class_finals import CLASS_FINALS

MAX_PUPILS = 60
MAX_OPEN_CLASSES = 3
"""Maximum number of classes of an account that are open or paused."""
MAX_CLASSES = 20
"""Maximum number of classes of an account."""


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """The teacher's choices for a new class; the fields are those of :class:`Classroom`.

    ``side`` is ``None`` for half and half, and an empty ``preset`` stands for the usual rule of each side.
    """

    name: str
    game: str
    side: Side | None
    preset: str
    n_pupils: int
    minutes: int
    opponent: str = "perfect"
    allows_names: bool = False


def plan_check(plan: ClassPlan) -> AnyGame:
    """Return the game of a plan that a class can play.

    Raises:
        ClassRefusedError: no class can play this game by this rule.
    """
    try:
        game = game_get(plan.game)
    except UnknownGameError as error:
        raise ClassRefusedError(f"game: {error}") from None
    if not game.supports_boxes:
        raise ClassRefusedError(f"game: No machine with boxes can learn {game.name}. Choose another game.")
    if plan.preset and (plan.preset not in presets_of(game) or not ALL_PRESETS[plan.preset].rule.has_boxes):
        raise ClassRefusedError(f"preset: No machine with boxes learns {game.name} by the rule {plan.preset!r}.")
    if plan.opponent not in UNIFORM:
        raise ClassRefusedError(f"opponent: There is no opponent {plan.opponent!r}.")
    return game


@transaction.atomic
def classroom_open(*, user: AnyUser, plan: ClassPlan) -> Classroom:
    """Open a class, with an untaught machine for each side, which the pupils' machines copy.

    Raises:
        ClassRefusedError: no class can play this game by this rule.
        ClassQuotaError: the account has too many classes.
        AccountClosedError: the account is closed.
    """
    game = plan_check(plan)
    site_require("learning_machine")
    teacher = cast("User", user)
    account_lock(teacher)
    _quota_require(user)
    link = SharedLink.objects.create()
    classroom = Classroom.objects.create(teacher=teacher, link=link, **asdict(plan))
    for side in class_sides(classroom.side):
        machine_create(
            game=game.slug,
            side=side,
            name=f"Untaught {personal_machine_name(game, side)}"[:80],
            preset=plan.preset or preset_usual(game, side),
            is_public=False,
            learns=False,
            classroom=classroom,
            share=link,
        )
    return classroom


def _quota_require(user: AnyUser, *, reopens: bool = False) -> None:
    classes = Classroom.objects.filter(teacher=cast("User", user))
    if classes.exclude(status=ClassStatus.FINISHED).count() >= MAX_OPEN_CLASSES:
        raise ClassQuotaError(f"You may have {MAX_OPEN_CLASSES} open classes. Finish one first.")
    if not reopens and classes.count() >= MAX_CLASSES:
        raise ClassQuotaError(f"You may keep {MAX_CLASSES} classes. Delete one first.")


def classroom_lock(user: AnyUser, classroom_id: int) -> Classroom:
    """Lock a class of this account until the transaction ends.

    Raises:
        NotYourClassError: the account has no such class.
    """
    classroom = Classroom.objects.select_for_update(of=("self",), no_key=True).filter(pk=classroom_id).first()
    if classroom is None or user.pk is None or classroom.teacher_id != user.pk:
        raise NotYourClassError
    return classroom


@transaction.atomic
def classroom_set_status(*, user: AnyUser, classroom_id: int, status: ClassStatus) -> Classroom:
    """Open, pause or finish a class. Machines play only in an open class. Finishing a class removes typed names.

    Raises:
        NotYourClassError, ClassQuotaError.
    """
    account_lock(cast("User", user))
    classroom = classroom_lock(user, classroom_id)
    if classroom.status == ClassStatus.FINISHED != status:
        _quota_require(user, reopens=True)
    classroom.status = status
    classroom.finished_at = timezone.now() if status == ClassStatus.FINISHED else None
    classroom.save(update_fields=["status", "finished_at"])
    Machine.objects.filter(classroom=classroom).update(is_paused=not classroom.is_open)
    if classroom.is_open:
        _final_cancel(classroom)
        ClassFinal.objects.filter(classroom=classroom).update(is_shown=False)
    delete_cached_table(classroom_id)
    if status == ClassStatus.FINISHED:
        classroom.participants.filter(is_typed=True).update(name="", is_typed=False)
    return classroom


@transaction.atomic
def final_begin(*, user: AnyUser, classroom_id: int) -> ClassFinal:
    """Pause an open class, and let a worker compute its final, which replaces the last one.

    Raises:
        NotYourClassError.
        ClassRefusedError: a side has no machine.
    """
    account_lock(cast("User", user))
    classroom = classroom_lock(user, classroom_id)
    sides = set(Machine.objects.filter(classroom=classroom, pupil__isnull=False).values_list("side", flat=True))
    sides_require(classroom, sides)
    if classroom.is_open:
        classroom_set_status(user=user, classroom_id=classroom_id, status=ClassStatus.PAUSED)
    ClassFinal.objects.filter(classroom=classroom).delete()
    final = ClassFinal.objects.create(classroom=classroom)
    delete_cached_table(classroom_id)
    transaction.on_commit(lambda: tasks.wake_up(CLASS_FINALS, [final.pk]))
    return final


@transaction.atomic
def final_cancel(*, user: AnyUser, classroom_id: int) -> None:
    """Cancel the final of a class, unless it is finished.

    Raises:
        NotYourClassError.
    """
    _final_cancel(classroom_lock(user, classroom_id))


def _final_cancel(classroom: Classroom) -> None:
    """Delete a final that is not finished. Without the row, its worker stops."""
    ClassFinal.objects.filter(classroom=classroom).exclude(status=JobStatus.FINISHED).delete()
    delete_cached_table(classroom.pk)


@transaction.atomic
def classroom_update(
    *,
    user: AnyUser,
    classroom_id: int,
    is_locked: bool | None = None,
    hides_names: bool | None = None,
    allows_names: bool | None = None,
    opponent: str | None = None,
) -> Classroom:
    """Change settings of a class; ``None`` leaves a setting as it is.

    Raises:
        NotYourClassError, ClassRefusedError.
    """
    if opponent is not None and opponent not in UNIFORM:
        raise ClassRefusedError(f"opponent: There is no opponent {opponent!r}.")
    classroom = classroom_lock(user, classroom_id)
    settings = {
        "is_locked": is_locked,
        "hides_names": hides_names,
        "allows_names": allows_names,
        "opponent": opponent,
    }
    changes = {field: value for field, value in settings.items() if value is not None}
    for field, value in changes.items():
        setattr(classroom, field, value)
    classroom.save(update_fields=list(changes))
    return classroom


@transaction.atomic
def classroom_delete(*, user: AnyUser, classroom_id: int) -> None:
    """Delete a class with its pupils, its machines and what they learnt. Its matches are kept as long as other matches.

    Raises:
        NotYourClassError.
    """
    classroom_remove(classroom_lock(user, classroom_id))


def classroom_remove(classroom: Classroom) -> None:
    """Delete a class with all rows that belong to it. Call inside a transaction."""
    machines = Machine.objects.filter(classroom=classroom)
    # The untaught machines go last, because the others share their boxes.
    for pk in machines.order_by("pupil").values_list("pk", flat=True):
        class_machine_remove(pk)
    link = classroom.link
    classroom.delete()
    link.delete()


def class_machine_remove(machine_id: int) -> None:
    """Delete a machine of a class. Call inside a transaction."""
    deletion_lock(machine_id)
    machine = Machine.objects.filter(pk=machine_id).first()
    if machine is not None:
        machine_remove(machine)


def machines_reset(*, user: AnyUser, classroom_id: int) -> int:
    """Give every machine of a class its initial beads again; return the number of machines.

    Raises:
        NotYourClassError.
    """
    with transaction.atomic():
        classroom = classroom_lock(user, classroom_id)
        ClassFinal.objects.filter(classroom=classroom).delete()
        delete_cached_table(classroom_id)
        ids = list(Machine.objects.filter(classroom=classroom, pupil__isnull=False).values_list("pk", flat=True))
    for pk in ids:
        with transaction.atomic():
            machine_lock_with_key(pk)
            if (machine := Machine.objects.filter(pk=pk).first()) is not None:
                machine_clear(machine)
    return len(ids)
