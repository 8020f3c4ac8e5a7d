"""Advice for everybody: ``POST /api/ai/move`` and ``/api/ai/evaluate``, ``GET /api/ai/health``.

Open to programs of others, so without log-in, and compatible with them: refusals are ``{"error": one of the fixed
texts}``. What is answered is found out in ``learning.selectors.advice``.
"""

from __future__ import annotations

import secrets

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema

from beadbox.engines.registry import LEVELS, levels_named
from beadbox.kernels.random_source import RandomSource
from learning.api import ai_schema
from learning.api.open_view import OpenView, fields_of, user_of
from learning.kinds.registry import kind_of
from learning.selectors import advice

_SLOW_WORDS = (
    b"\\u006",
    b"\\u007",
    *(slug.encode() for slug in LEVELS if any(level.is_deep for level in levels_named(slug))),
)


class AiMoveView(OpenView):
    """What to play."""

    @extend_schema(**ai_schema.MOVE)
    def post(self, request: HttpRequest) -> dict[str, object]:
        """A move for the board as it is sent, and how it compares with others."""
        rng = RandomSource(secrets.randbits(64))
        asked = advice.question_read(fields_of(request))
        if asked.machine_ref is None:
            return advice.move_advice(asked, rng)
        machine, position = advice.machine_asked(asked, user_of(request))
        return advice.machine_advice(asked, machine, kind_of(machine).live.frozen_policy(machine, position), rng)


class AiEvaluateView(OpenView):
    """What a board is worth."""

    @extend_schema(**ai_schema.EVALUATE)
    def post(self, request: HttpRequest) -> dict[str, object]:
        """The value of the board for the side that asks, the legal moves, and whether the game is over."""
        return advice.evaluation(advice.question_read(fields_of(request)))


class AiHealthView(OpenView):
    """Whether advice can be had."""

    @extend_schema(**ai_schema.HEALTH)
    def get(self, request: HttpRequest) -> dict[str, object]:
        """Asks the engine for a move and nothing else; the whole site is asked at ``/api/health``."""
        return {
            "status": "ok",
            "depth": advice.engine_depth(),
            "difficulties": advice.engine_levels(),
            "levels": advice.engine_ladders(),
            "levels_measured": "in matches with history",
        }


def queue_of(body: bytes) -> str:
    """The queue in which a question waits: ``slow`` for a deep search, ``machine`` for a machine, else ``quick``.

    A glance at its bytes; its answer does not depend on it. Letters that are spelt as escapes count as a deep search.
    """
    if any(word in body for word in _SLOW_WORDS):
        return "slow"
    return "machine" if b'"machine"' in body else "quick"
