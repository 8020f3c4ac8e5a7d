"""An engine's evaluation of a live match, sent only to the client that requests it."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from games.exceptions import MatchFinishedError, RoomNotFoundError
from games.live.api import RoomCodeView
from games.live.serializers import refusal_responses
from learning.advice.live import Advice
from learning.exceptions import NoEngineError
from learning.selectors.advice import room_advice


class RoomAdviceView(RoomCodeView):
    """The engine's evaluation of the current position of a room."""

    needs_scope = "read"

    @extend_schema(
        responses={
            200: OpenApiResponse(Advice, "The engine’s view of the board: docs/protocol.md."),
            **refusal_responses(RoomNotFoundError, NoEngineError, MatchFinishedError),
        }
    )
    def get(self, request: Request, code: str) -> Response:
        """Return the engine's five best moves for the side to move, and which side is better."""
        return Response(room_advice(code))
