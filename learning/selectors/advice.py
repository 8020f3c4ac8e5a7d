"""Advice on a move, for a board in a request or in a room. No locks are taken, and nothing is written."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from time import sleep
from typing import Any, cast

from django.conf import settings

from beadbox.engines.registry import engine_of
from beadbox.kernels.jit import CHECK_EVERY_S, Readiness
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame, AnyPosition
from beadbox.rules.registry import game_get
from games.accounts.principal import AnyUser
from games.exceptions import MatchFinishedError
from games.live.store import match_read
from learning.access import machine_for
from learning.advice.adviser import AnyAdviser
from learning.advice.live import Advice, advice
from learning.advice.question import AdviceError
from learning.advice.registry import DEFAULT_GAME, adviser_of
from learning.exceptions import MachineNotFoundError, NoEngineError
from learning.models import Machine

_MACHINE_REF = re.compile(r"[-\w]{1,80}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """A request for advice, parsed by the adviser of its game."""

    adviser: AnyAdviser
    question: object
    """The question in the adviser's own type."""
    machine_ref: object
    """Id or slug of the requested machine, unchecked; ``None`` without one."""


def advice_request_read(fields: dict[str, object]) -> AdviceRequest:
    """Parse the fields of a request for advice (docs/ai.md).

    Raises:
        AdviceError: a field is invalid; the message is the text that docs/ai.md has for the first invalid field.
    """
    game = _game(fields)
    adviser = adviser_of(game)
    # A request without ``game`` is about Romgon, and such a request has no field ``machine``.
    machine_ref = None if fields.get("game") is None else fields.get("machine")
    return AdviceRequest(adviser, adviser.read(game, fields), machine_ref)


def move_advice(request: AdviceRequest, rng: RandomSource) -> dict[str, object]:
    """Return the best move on the board of a question, and a comparison with other moves.

    ``rng`` decides among equally good moves.
    """
    return request.adviser.move(request.question, rng, time_limit_s=settings.AI_TIME_BUDGET_S)


def machine_requested(request: AdviceRequest, user: AnyUser) -> tuple[Machine, AnyPosition]:
    """Return the requested machine, and the position of the question.

    The machine plays the game of the question. If it plays only one side, that side is to move or the game is over.

    Raises:
        AdviceError: the machine plays another game or side, or the reference is neither a text nor a whole number.
        MachineNotFoundError: there is no such machine, or this user may not see it.
        NotYourMachineError: this user may look at it, but not play it.
    """
    game, position = request.adviser.game_and_position(request.question)
    machine = machine_for(user, _machine_ref(request.machine_ref), to="play")
    may_answer = machine.side in (None, game.side_to_move(position)) or game.is_terminal(position)
    if machine.game != game.slug or not may_answer:
        raise AdviceError("Invalid machine", _machine_side_text(machine))
    return machine, position


def machine_advice(
    request: AdviceRequest, machine: Machine, frozen_policy: object, rng: RandomSource
) -> dict[str, object]:
    """Return the machine's move on the board of a question, and a comparison with other moves.

    ``frozen_policy`` is the machine's present policy, which does not learn (``learning.kinds.live``). ``rng`` draws the
    bead.
    """
    machine_json = {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url()}
    return {**request.adviser.machine(request.question, frozen_policy, rng), "machine": machine_json}


def evaluation(request: AdviceRequest) -> dict[str, object]:
    """Return the value of a question's board for the side that the request names, and its legal moves."""
    return request.adviser.evaluation(request.question)


def engine_depth() -> int:
    """Return the depth to which the default engine searches the initial position, in plies; runs a search."""
    game = game_get(DEFAULT_GAME)
    adviser = adviser_of(game)
    answer = adviser.move(adviser.start(game), RandomSource(0), time_limit_s=settings.AI_TIME_BUDGET_S)
    return cast("int", answer["depth"])


def engine_levels() -> list[str]:
    """Return the levels of the engine of the default game, weakest first."""
    engine = engine_of(game_get(DEFAULT_GAME))
    return [] if engine is None else list(engine.levels)


def engine_ladders() -> dict[str, list[dict[str, object]]]:
    """Return the ladders of the default game's engine by mode (normal play, or with flips), weakest level first.

    Each level has its rating and the rating's interval.
    """
    engine = engine_of(game_get(DEFAULT_GAME))
    ladders = (
        {} if engine is None else {mode: engine.ladder(game_get(slug)) for mode, slug in engine.ladder_games.items()}
    )
    return {
        mode: [
            {"difficulty": entry.level.slug, **entry.rating._asdict()} for entry in ladder if entry.rating is not None
        ]
        for mode, ladder in ladders.items()
    }


def warm_up_when_ready() -> None:
    """Start a thread that calls :func:`warm_up` when the default engine is compiled."""
    threading.Thread(target=_wait_and_warm_up, daemon=True).start()


def _wait_and_warm_up() -> None:
    engine = engine_of(game_get(DEFAULT_GAME))
    assert engine is not None, "the default game has an engine"
    while (readiness := engine.readiness()) is Readiness.COMPILING:
        sleep(CHECK_EVERY_S)
    if readiness is Readiness.READY:
        warm_up()


def warm_up() -> None:
    """Load or compile all that answers need, so that the first request does not wait."""
    engine_depth()
    game = game_get(DEFAULT_GAME)
    adviser_of(game).evaluation(adviser_of(game).start(game))
    if (engine := engine_of(game)) is not None:
        strongest = engine.ladder(game)[-1].level
        engine.choose(game, game.initial_position(), level=strongest, rng=RandomSource(0))


def room_advice(code: str) -> Advice:
    """Return the engine's advice on the position in a room (docs/protocol.md).

    Raises:
        RoomNotFoundError, NoEngineError, MatchFinishedError.
    """
    live = match_read(code)
    game = live.game
    engine = engine_of(game)
    if engine is None:
        raise NoEngineError
    if live.match.is_over:
        raise MatchFinishedError
    return advice(engine, game, game.decode(live.match.position))


def _game(fields: dict[str, Any]) -> AnyGame:
    slug = fields.get("game")
    try:
        return game_get(DEFAULT_GAME if slug is None else slug if isinstance(slug, str) else json.dumps(slug))
    except UnknownGameError as error:
        raise AdviceError("Invalid game", str(error)) from None


def _machine_side_text(machine: Machine) -> str:
    return f"{machine.name} {machine.get_side_display()} in {machine.game_rules.full_name}."


def _machine_ref(ref: Any) -> str:
    if isinstance(ref, bool) or not isinstance(ref, str | int):
        raise AdviceError("Invalid machine", "A machine is named by its id or its slug.")
    if not _MACHINE_REF.fullmatch(str(ref)):  # a text that cannot name a machine does not reach the database
        raise MachineNotFoundError
    return str(ref)
