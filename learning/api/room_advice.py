"""What the engine thinks of a live match, for whoever asks; nobody else is told."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from games.exceptions import MatchFinishedError, RoomNotFoundError
from games.live.api import RoomCodeView
from games.live.serializers import refusals
from learning.advice.live import Advice
from learning.exceptions import NoEngineError
from learning.selectors.advice import room_advice


class RoomAdviceView(RoomCodeView):
    """What the engine thinks of the position on the board."""

    needs_scope = "read"

    @extend_schema(
        responses={
            200: OpenApiResponse(Advice, "The engine’s view of the board: docs/protocol.md."),
            **refusals(RoomNotFoundError, NoEngineError, MatchFinishedError),
        }
    )
    def get(self, request: Request, code: str) -> Response:
        """The five moves that the engine likes best for the side to move, and who stands better."""
        return Response(room_advice(code))
