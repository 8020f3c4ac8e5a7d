"""Public advice endpoints: ``POST /api/ai/move``, ``POST /api/ai/evaluate`` and ``GET /api/ai/health``.

The endpoints serve third-party programs: they need no log-in, and errors are ``{"error": one of the fixed texts}``.
``learning.selectors.advice`` computes the answers.
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
    """Advice on the move to play in a position."""

    @extend_schema(**ai_schema.MOVE)
    def post(self, request: HttpRequest) -> dict[str, object]:
        """Return a move for the given board, and a comparison with other moves."""
        rng = RandomSource(secrets.randbits(64))
        advice_request = advice.advice_request_read(fields_of(request))
        if advice_request.machine_ref is None:
            return advice.move_advice(advice_request, rng)
        machine, position = advice.machine_requested(advice_request, user_of(request))
        return advice.machine_advice(
            advice_request, machine, kind_of(machine).occupant_class.frozen_policy(machine, position), rng
        )


class AiEvaluateView(OpenView):
    """Evaluation of a board without a move."""

    @extend_schema(**ai_schema.EVALUATE)
    def post(self, request: HttpRequest) -> dict[str, object]:
        """Return the value of the board for the side that asks, the legal moves, and whether the game is over."""
        return advice.evaluation(advice.advice_request_read(fields_of(request)))


class AiHealthView(OpenView):
    """Health check of the advice endpoints."""

    @extend_schema(**ai_schema.HEALTH)
    def get(self, request: HttpRequest) -> dict[str, object]:
        """Check only that the engine returns a move; ``/api/health`` checks the whole site."""
        return {
            "status": "ok",
            "depth": advice.engine_depth(),
            "difficulties": advice.engine_levels(),
            "levels": advice.engine_ladders(),
            "levels_measured": "in matches with history",
        }


def queue_of(body: bytes) -> str:
    """Return the queue of a question: ``slow`` for a deep search, ``machine`` for a machine, else ``quick``.

    The choice is a guess from the raw bytes, and does not affect the answer. Letters written as JSON escapes count as
    a deep search.
    """
    if any(word in body for word in _SLOW_WORDS):
        return "slow"
    return "machine" if b'"machine"' in body else "quick"
