"""The site's own machines ("house machines"), and the tournament between them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from django.db import IntegrityError, transaction

from beadbox.learners.built_in import HOUSE, HOUSE_TOURNAMENT, HouseMachine
from beadbox.learners.presets import presets_of
from beadbox.learners.recorded import read_recorded_training
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from learning.kinds.registry import kind_of_rule
from learning.models import Machine, Tournament, TrainingRun
from learning.services.machines import machine_create
from learning.services.runs import Stage, run_store
from learning.services.tournaments import tournament_start
from learning.storage.locks import machine_lock
from learning.workers.recorded import recorded_store


def house_machine_ensure(house: HouseMachine) -> tuple[Machine, TrainingRun | None]:
    """Return the house machine, created if missing, and its unfinished training run, ``None`` if it is finished.

    A training that is recorded in the repository is loaded at once instead of being run.
    """
    if not Machine.objects.filter(slug=house.slug).exists():
        # If another container creates the machine at the same moment, that machine is used.
        with contextlib.suppress(IntegrityError), transaction.atomic():
            machine = machine_create(
                game=house.game,
                side=house.side,
                name=house.name,
                preset=house.preset,
                slug=house.slug,
                description=house.description,
            )
            run = run_store(machine, [Stage(house.opponent, house.n_games)], [None], seed=house.seed)
            if (recording := read_recorded_training(house)) is not None:
                recorded_store(run, recording)
    machine = Machine.objects.get(slug=house.slug)
    first_run = machine.runs.filter(seed=house.seed, n_games=house.n_games).order_by("pk").first()
    return machine, first_run if first_run is not None and first_run.finished_at is None else None


def house_tournament_ensure() -> Tournament | None:
    """Create the missing machines of the site's tournament; start the tournament if all of them are trained.

    The call does not wait: workers train the machines and play the games (``jobs_recover`` wakes the workers). The
    tournament starts only once, even if several processes call this function, because the start requires the locks of
    its machines.

    Returns:
        The tournament, if this call has started it.
    """
    existing = Tournament.objects.filter(
        owner=None, game=HOUSE_TOURNAMENT.game, name=HOUSE_TOURNAMENT.name, seed=HOUSE_TOURNAMENT.seed
    )
    if existing.exists():
        return None
    machines = [house_machine_ensure(house) for house in _entrants()]
    if any(run is not None for _, run in machines):
        return None
    game = game_get(HOUSE_TOURNAMENT.game)
    with transaction.atomic():
        machine_lock(*(machine.pk for machine, _ in machines))
        if existing.exists():
            return None
        fixed = [slug for slug, opponent in OPPONENTS.items() if opponent.plays(game) and not opponent.is_slow]
        return tournament_start(
            user=None,
            entries=[*(machine.slug for machine, _ in machines), *fixed],
            games=HOUSE_TOURNAMENT.n_games,
            name=HOUSE_TOURNAMENT.name,
            seed=HOUSE_TOURNAMENT.seed,
            enqueue=False,
        )


def _entrants() -> Iterator[HouseMachine]:
    """Yield a machine for each preset and each side that it can play: the built-in machine, or else a new one."""
    plan = HOUSE_TOURNAMENT
    game = game_get(plan.game)
    built_in = {(house.preset, house.side): house for house in HOUSE if house.game == plan.game}
    for slug, preset in presets_of(game).items():
        sides: list[Side | None] = [None] if kind_of_rule(preset.rule).occupant_class.either_side else list(Side)
        for side in sides:
            role = "" if side is None else game.presentation.layout.role_names[side]
            yield built_in.get((slug, side)) or HouseMachine(
                slug=f"house-{slug}-{role}".rstrip("-"),
                name=f"{preset.name}, {role}".rstrip(", "),
                description=preset.summary,
                game=plan.game,
                side=side,
                preset=slug,
                opponent=plan.opponents[side or Side.FIRST],
                n_games=plan.n_lessons,
                seed=plan.seed,
            )
