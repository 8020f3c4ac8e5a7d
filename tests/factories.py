"""Factories for tests: accounts, guests, API clients, machines, rooms, matches and runs."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db.models import Q
from django.utils import timezone
from rest_framework.test import APIClient

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.built_in import HOUSE
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from games.accounts import tokens
from games.accounts.principal import Principal
from games.live.play import match_play_move
from games.live.room_state import UnredactedState
from games.live.room_state import room_state as state_of
from games.live.rooms import SeatResult, room_create
from games.live.store import live_match_load, match_latest, room_get
from games.models import Room
from learning.kinds.registry import kind_of
from learning.models import ClassFinal, Classroom, ExperimentRun, Job, JobStatus, Machine, Participant
from learning.selectors.strength import Strength
from learning.services.classrooms import ClassPlan, classroom_open, final_begin
from learning.services.experiments import experiment_request
from learning.services.machines import machine_create
from learning.services.participants import participant_join
from learning.services.runs import Stage, training_run_start
from learning.workers.class_finals import CLASS_FINALS
from learning.workers.experiments import EXPERIMENT_RUNS, experiment_execute
from learning.workers.jobs import TurnEnd
from learning.workers.retention import retention_run
from learning.workers.runs import RUNS, run_execute

NC = "noughts-and-crosses"  # the game of most tests


def guest(number: int = 1) -> Principal:
    """Return a visitor without an account."""
    return Principal(guest=UUID(int=number))


def user(name: str = "owner", *, may: Sequence[str] | None = None, **fields: Any) -> Any:
    """Create an account. ``may`` has the codenames of a staff member's permissions, by default all of ``learning``."""
    account = get_user_model().objects.create_user(name, password="a good password", **fields)
    if account.is_staff and not account.is_superuser:
        is_granted = Q(content_type__app_label="learning") if may is None else Q(codename__in=may)
        account.user_permissions.set(Permission.objects.filter(is_granted))
    return account


def api_with(account: Any, *scopes: str) -> APIClient:
    """Return an API client of an account. The client has a token of these scopes; without scopes, it has a session.

    For the account ``None``, return the client of a guest.
    """
    api = APIClient()
    if scopes:
        text = tokens.token_make(user=account, name="a test", scopes=scopes, lifetime=None)[1]
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    elif account is not None:
        api.force_login(account)
    return api


def person(account: Any) -> Principal:
    """Return the visitor that is logged in to an account."""
    return Principal(user_id=account.pk, name=account.get_username())


def machine(side: Side = Side.SECOND, preset: str = "", **fields: Any) -> Machine:
    """Create an untrained machine of noughts and crosses."""
    fields.setdefault("name", "MENACE")
    return machine_create(game=NC, side=side, preset=preset, **fields)


def house_machines() -> dict[Side, Machine]:
    """Create the two built-in machines of noughts and crosses, untrained; return them by side."""
    return {
        built_in.side: machine_create(
            game=built_in.game, side=built_in.side, name=built_in.name, preset=built_in.preset, slug=built_in.slug
        )
        for built_in in HOUSE
        if built_in.game == NC
    }


def trained_machine(learner: Machine, games: int = 1000, seed: int = 1, opponent: str = "random") -> Machine:
    """Train a machine by a training run, as the site does, and return the machine, read again from the database."""
    run = training_run_start(machine=learner.slug, stages=[Stage(opponent, games)], seed=seed, enqueue=False)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    run_execute(claimed)
    learner.refresh_from_db()
    return learner


def machine_strength(machine: Machine) -> Strength:
    return kind_of(machine).training.strength(machine)


def expire_leases(*running: Job) -> None:
    """Let the leases of running jobs expire now, as if their worker had died."""
    for job in running:
        still_running = type(job)._default_manager.filter(pk=job.pk, status=JobStatus.RUNNING)
        still_running.update(lease_until=timezone.now(), knocked_at=timezone.now() - timedelta(minutes=1))


def trained_memory(learner: Machine, games: int = 1000, seed: int = 1, opponent: str = "random") -> Memory:
    """Return the memory of a machine after the training of :func:`trained_machine`, but without a database."""
    from learning.kinds.boxes.memory import table_of

    memory = Memory.fresh(table_of(learner))
    memory.train(OPPONENTS[opponent], games, RandomSource(seed))
    return memory


def finished_experiment(slug: str, seed: int = 1, **parameters: int) -> ExperimentRun:
    """Run an experiment as the site does, and return the finished run with its result."""
    run = experiment_request(person=None, experiment=slug, seed=seed, parameters=parameters, enqueue=False)
    claimed = EXPERIMENT_RUNS.claim(run.pk)
    assert claimed is not None
    experiment_execute(claimed)
    run.refresh_from_db()
    return run


def class_with_pupils(
    n_pupils: int, side: int | None = Side.SECOND, game: str = "hexapawn", teacher: Any = None
) -> tuple[Classroom, list[Participant]]:
    """Open a class, and let pupils join it. With ``side=None``, half of the pupils get each side."""
    plan = ClassPlan(
        name="7b",
        game=game,
        side=None if side is None else Side(side),
        preset="",
        n_pupils=24,
        minutes=30,
    )
    classroom = classroom_open(user=teacher or user("teacher"), plan=plan)
    return classroom, [
        participant_join(classroom_id=classroom.pk, guest=uuid4(), name_numbers=(n, n)) for n in range(n_pupils)
    ]


def hold_final(classroom: Classroom, turn_s: float | None = None) -> ClassFinal:
    """Hold the final of a class as workers do: in turns of ``turn_s`` seconds, by default in a single turn."""
    final = final_begin(user=classroom.teacher, classroom_id=classroom.pk)
    return work_final(final, turn_s)


def work_final(final: ClassFinal, turn_s: float | None = None) -> ClassFinal:
    """Take turns for a final until it is over, and return the final, read again."""
    while (claimed := CLASS_FINALS.claim(final.pk)) is not None:
        CLASS_FINALS.take_turn(claimed, TurnEnd(turn_s))
    final.refresh_from_db()
    return final


def room(
    opponent: str = "perfect", person: Principal | None = None, side: Side = Side.FIRST, **options: Any
) -> SeatResult:
    """Open a room of noughts and crosses, and return the seat of the person."""
    return room_create(person=person or guest(), game=NC, opponent=opponent, side=side, **options)


def play(seated: SeatResult, person: Principal, *moves: str) -> dict[str, Any]:
    """Play moves in order and return the state after the last of them."""
    state: dict[str, Any] = {}
    for move in moves:
        state = match_play_move(code=seated.room.code, person=person, move=move)
    return state


def room_view(room: Room) -> dict[str, Any]:
    """Return the complete view of the state of a room, read again from the database."""
    return state_of(live_match_load(match_latest(room))).whole


def room_state(room: Room) -> UnredactedState:
    """Return the state of a room, from which the view of each viewer is made."""
    return state_of(live_match_load(match_latest(room)))


def play_out(code: str, person: Principal) -> dict[str, Any]:
    """Play the first legal move again and again until the match is over; return the last state."""
    state = room_view(room_get(code))
    while state["status"] == "playing":
        state = match_play_move(code=code, person=person, move=state["legal_moves"][0], ply=state["ply"])
    return state


def stranger() -> Principal:
    """Return a new guest without a room."""
    return Principal(guest=uuid4())


def run_retention() -> None:
    """Run retention to its end, in a single turn."""
    assert retention_run(TurnEnd()) is None
