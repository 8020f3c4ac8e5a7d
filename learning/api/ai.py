"""Advice for everybody: ``POST /api/ai/move`` and ``/api/ai/evaluate``, ``GET /api/ai/health``.

Open to programs of others, so without log-in, and compatible with them: refusals are ``{"error": one of the fixed
texts}``. The views are REST framework's for the schema alone; a request never meets its machinery, nor a session.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from games.authentication import bearer_of
from games.exceptions import PlayError
from games.rules.base import Game
from games.rules.errors import UnknownGameError
from games.rules.registry import game_get
from games.rules.romgon.moves import CORE
from games.rules.romgon.pieces import BLACK, START
from games.rules.romgon.rules import Romgon
from games.services_tokens import token_read
from games.throttles import AddressThrottle
from learning.access import machine_for
from learning.api import ai_schema
from learning.core.advice import any_game, romgon
from learning.core.advice.question import AdviceError, read_object
from learning.core.engines.romgon.answers import LEVELS
from learning.core.kernels.random_source import RandomSource
from learning.exceptions import MachineNotFoundError
from learning.models import Machine
from learning.selectors.advice import machine_as_it_stands
from learning.storage.values import values_learner

ROMGON = "romgon"
"""The game that is meant where none is named."""
_SLOW_WORDS = (
    b"\\u006",
    b"\\u007",
    *(slug.encode() for slug, level in LEVELS.items() if level.time_limit_s is not None),
)
_MACHINE_REF = re.compile(r"[-\w]{1,80}", re.ASCII)


class OpenView(APIView):
    """A view that anybody may call from anywhere, at a rate: JSON in, JSON out."""

    authentication_classes = []
    permission_classes = []
    throttle_classes = []
    refuses_by_itself = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer without REST framework."""
        response = self._respond(request)
        _allow_origin(request, response)
        return response

    def _respond(self, request: HttpRequest) -> HttpResponse:
        allowed = ", ".join(name.upper() for name in ("get", "post") if hasattr(self, name))
        if request.method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": f"{allowed}, OPTIONS"})
        method = (request.method or "").lower()
        handler = getattr(self, method, None) if method in self.http_method_names else None
        if handler is None:
            return _json({"error": "Method not allowed"}, 405, Allow=f"{allowed}, OPTIONS")
        throttle = AddressThrottle("ai")
        if not throttle.allow_request(request, self):
            wait_s = math.ceil(throttle.wait())
            error = f"Too many requests. Try again in {wait_s} seconds."
            return _json({"error": error}, 429, **{"Retry-After": str(wait_s)})
        try:
            return _json(handler(request))
        except AdviceError as error:
            return _json({"error": str(error), "detail": error.detail} if error.detail else {"error": str(error)}, 400)
        except RequestDataTooBig:
            return _json({"error": "Request too large"}, 413)
        except PlayError as refusal:
            return _json({"error": str(refusal), "code": refusal.code}, refusal.status)


class AiMoveView(OpenView):
    """What to play."""

    @extend_schema(**ai_schema.MOVE)
    def post(self, request: HttpRequest) -> dict[str, Any]:
        """A move for the board as it is sent, and how it compares with others."""
        fields = _fields(request)
        rng = RandomSource(secrets.randbits(64))
        game = _game(fields)
        if isinstance(game, Romgon):
            question = romgon.read_question(fields, game.options)
            # Without ``game`` the rules of Romgon say which fields there are, and a machine is none of them.
            if fields.get("game") is not None and fields.get("machine") is not None:
                return _values_answer(_user(request), fields, question)
            return romgon.move_answer(question, rng, time_limit_s=settings.AI_TIME_BUDGET_S)
        if fields.get("machine") is None:
            return any_game.move_answer(any_game.read_question(game, fields), rng)
        return _machine_answer(_user(request), fields, game, rng)


class AiEvaluateView(OpenView):
    """What a board is worth."""

    @extend_schema(**ai_schema.EVALUATE)
    def post(self, request: HttpRequest) -> dict[str, Any]:
        """The value of the board for the side that asks, the legal moves, and whether the game is over."""
        fields = _fields(request)
        game = _game(fields)
        if isinstance(game, Romgon):
            return romgon.evaluate_answer(romgon.read_question(fields, game.options))
        return any_game.evaluate_answer(any_game.read_question(game, fields))


class AiHealthView(OpenView):
    """Whether advice can be had."""

    @extend_schema(**ai_schema.HEALTH)
    def get(self, request: HttpRequest) -> dict[str, Any]:
        """Asks the engine for a move and nothing else; the whole site is asked at ``/api/health``."""
        question = romgon.Question(START, BLACK, CORE, "hard")
        answer = romgon.move_answer(question, RandomSource(0), time_limit_s=settings.AI_TIME_BUDGET_S)
        return {"status": "ok", "depth": answer["depth"], "difficulties": list(LEVELS)}


def warm_up() -> None:
    """Load or compile what answers need, before anybody waits for one."""
    question = romgon.Question(START, BLACK, CORE, "hard")
    romgon.move_answer(question, RandomSource(0), time_limit_s=settings.AI_TIME_BUDGET_S)
    romgon.evaluate_answer(question)


def is_slow(body: bytes) -> bool:
    """Whether a body asks for a deep search, by a glance: for the queue it waits in, not for the answer it gets.

    Letters may be spelt as escapes, for which nobody but who wants to jump the queue has a use.
    """
    return any(word in body for word in _SLOW_WORDS)


def busy(request: HttpRequest) -> HttpResponse:
    """The answer where too many wait already."""
    response = _json({"error": "Too busy"}, 503, **{"Retry-After": "2"})
    _allow_origin(request, response)
    return response


def _fields(request: HttpRequest) -> dict[str, Any]:
    body = request.body
    if len(body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:  # Django looks at the length that is announced, if one is
        raise RequestDataTooBig
    return read_object(body)


def _game(fields: dict[str, Any]) -> Game[Any, Any]:
    slug = fields.get("game")
    try:
        return game_get(ROMGON if slug is None else slug if isinstance(slug, str) else json.dumps(slug))
    except UnknownGameError as error:
        raise AdviceError("Invalid game", str(error)) from None


def _machine_answer(user: Any, fields: dict[str, Any], game: Game[Any, Any], rng: RandomSource) -> dict[str, Any]:
    question = any_game.read_question(game, fields)
    machine = machine_for(user, _machine_ref(fields["machine"]), to="play")
    side = game.side_to_move(question.position)
    if machine.game != game.slug or (machine.side != side and not game.is_terminal(question.position)):
        raise AdviceError("Invalid machine", _what_it_plays(machine))
    answer = any_game.machine_answer(question, machine_as_it_stands(machine, question.position), rng)
    return {**answer, "machine": _machine_view(machine)}


def _values_answer(user: Any, fields: dict[str, Any], question: romgon.Question) -> dict[str, Any]:
    """What a machine that keeps values plays; of its values those of the legal actions are read, and no others."""
    machine = machine_for(user, _machine_ref(fields["machine"]), to="play")
    if machine.game != Romgon(question.options).slug:
        raise AdviceError("Invalid machine", _what_it_plays(machine))
    return {**romgon.machine_answer(question, values_learner(machine)), "machine": _machine_view(machine)}


def _what_it_plays(machine: Machine) -> str:
    game = machine.game_rules
    variant = f" {game.variant}" if game.additions and game.variant else ""
    return f"{machine.name} {machine.get_side_display()} in {game.name}{variant}."


def _machine_view(machine: Machine) -> dict[str, Any]:
    return {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url()}


def _machine_ref(ref: Any) -> str:
    if isinstance(ref, bool) or not isinstance(ref, str | int):
        raise AdviceError("Invalid machine", "A machine is named by its id or its slug.")
    if not _MACHINE_REF.fullmatch(str(ref)):  # nothing that no machine can be called reaches the database
        raise MachineNotFoundError
    return str(ref)


def _user(request: HttpRequest) -> Any:
    """Whose token came with the request; nobody's session counts here."""
    text = bearer_of(request.headers.get("Authorization", ""))
    return AnonymousUser() if text is None else token_read(text=text, scope="play").user


def _json(body: dict[str, Any], status: int = 200, **headers: str) -> HttpResponse:
    return HttpResponse(json.dumps(body), status=status, headers=headers, content_type="application/json")


def _allow_origin(request: HttpRequest, response: HttpResponse) -> None:
    """Let pages of other sites read the answer, if ``AI_CORS_ORIGINS`` names them. No cookie goes with it."""
    origins = settings.AI_CORS_ORIGINS
    origin = request.headers.get("Origin")
    if not origins:
        return
    response["Vary"] = "Origin"
    if origin is None or not ("*" in origins or origin in origins):
        return
    response["Access-Control-Allow-Origin"] = "*" if "*" in origins else origin
    response["Access-Control-Expose-Headers"] = "Retry-After"
    if request.method == "OPTIONS":
        response["Access-Control-Allow-Methods"] = response["Allow"]
        response["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        response["Access-Control-Max-Age"] = "86400"
