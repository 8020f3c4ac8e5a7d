"""Machines that learn before one's eyes, in a browser: read an address, send a graph, keep one. ``docs/learn.md``."""

from __future__ import annotations

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from beadbox.learners.boxes.training_address import KNOWN, asked_read
from beadbox.learners.boxes.training_config import games_taught
from games.accounts.throttles import LiveThrottle, WriteThrottle
from games.live.serializers import parsed, refusals
from learning.exceptions import MachineQuotaError, RunQuotaError
from learning.selectors.graphs import graph_view
from learning.serializers.learn import (
    AddressSerializer,
    GraphAskedSerializer,
    GraphSerializer,
    KeepSerializer,
)
from learning.serializers.machines import MachineSerializer
from learning.services.learn import trained_machine_keep

ADDRESS = [OpenApiParameter(name, str, description="A part of the address: docs/learn.md.") for name in KNOWN]


class LearnView(APIView):
    """A look at a machine that learns: nothing is read or written, so nobody has to be known.

    So it is answered while the database is away or hangs.
    """

    authentication_classes = ()
    throttle_classes = (LiveThrottle,)


class AddressView(LearnView):
    """How an address is read."""

    @extend_schema(parameters=ADDRESS, responses={200: AddressSerializer, **refusals()})
    def get(self, request: Request) -> Response:
        """Every part of an address; what could not be used is told, and the nearest that makes sense stands there."""
        return Response(asked_read(request.query_params).told)


class GraphView(LearnView):
    """The graph of a game, with which a browser trains its machines."""

    @extend_schema(parameters=[GraphAskedSerializer], responses={200: GraphSerializer, **refusals()})
    def get(self, request: Request) -> Response:
        """The graph of a game: for any side, set of boxes and teacher, so one answer for many, to be kept a while."""
        asked = parsed(GraphAskedSerializer, request.query_params)
        view = graph_view(games_taught()[asked["game"]], reduced=asked["reduce_symmetry"])
        return Response(view, headers={"Cache-Control": "public, max-age=3600"})


class KeepView(APIView):
    """A machine that was watched becomes one's own."""

    throttle_classes = (*APIView.throttle_classes, WriteThrottle)

    @extend_schema(
        request=KeepSerializer,
        responses={201: MachineSerializer, **refusals(MachineQuotaError, RunQuotaError)},
    )
    def post(self, request: Request) -> Response:
        """Make a machine with those very beads, at once or by a training that goes on; it belongs to the account."""
        data = parsed(KeepSerializer, request.data)
        asked = asked_read(QueryDict(data["address"]))
        if asked.problems:
            raise ValidationError({problem.field: [problem.detail] for problem in asked.problems})
        machine, _ = trained_machine_keep(
            user=request.user,
            config=asked.config,
            preset=asked.preset,
            games=asked.games,
            name=data["name"],
        )
        return Response(MachineSerializer(machine, context={"request": request}).data, status=201)
