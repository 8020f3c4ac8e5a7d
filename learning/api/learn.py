"""Training in the browser (``docs/learn.md``): parse an address, send the graph of a game, store a machine."""

from __future__ import annotations

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from beadbox.learners.boxes.training_address import ADDRESS_PARAMETERS, address_parse
from beadbox.learners.boxes.training_config import teachable_games
from games.accounts.throttles import LiveThrottle, WriteThrottle
from games.live.serializers import parse_data, refusal_responses
from learning.exceptions import MachineQuotaError, RunQuotaError
from learning.selectors.code import training_address_view
from learning.selectors.graphs import graph_view
from learning.serializers.learn import (
    AddressSerializer,
    GraphAskedSerializer,
    GraphSerializer,
    KeepSerializer,
)
from learning.serializers.machines import MachineSerializer
from learning.services.learn import trained_machine_create

ADDRESS_SCHEMA = [
    OpenApiParameter(name, str, description="A parameter of the page's address: docs/learn.md.")
    for name in ADDRESS_PARAMETERS
]


class LearnView(APIView):
    """A view without authentication that does not use the database, so that it works during an outage."""

    authentication_classes = ()
    throttle_classes = (LiveThrottle,)


class AddressView(LearnView):
    """The interpretation of an address of the training page."""

    @extend_schema(parameters=ADDRESS_SCHEMA, responses={200: AddressSerializer, **refusal_responses()})
    def get(self, request: Request) -> Response:
        """Return every part of an address; unusable parts are listed and replaced by the nearest valid value."""
        return Response(training_address_view(address_parse(request.query_params).to_json()))


class GraphView(LearnView):
    """The graph of a game, which a browser needs to train machines."""

    @extend_schema(parameters=[GraphAskedSerializer], responses={200: GraphSerializer, **refusal_responses()})
    def get(self, request: Request) -> Response:
        """Return the graph of a game. It serves all sides, rules and teachers, and is cached for an hour."""
        query = parse_data(GraphAskedSerializer, request.query_params)
        view = graph_view(teachable_games()[query["game"]], reduced=query["reduce_symmetry"])
        return Response(view, headers={"Cache-Control": "public, max-age=3600"})


class KeepView(APIView):
    """Storage of a machine that was trained in the browser."""

    throttle_classes = (*APIView.throttle_classes, WriteThrottle)

    @extend_schema(
        request=KeepSerializer,
        responses={201: MachineSerializer, **refusal_responses(MachineQuotaError, RunQuotaError)},
    )
    def post(self, request: Request) -> Response:
        """Create a machine with the same beads, at once or by a training run; it belongs to the account."""
        data = parse_data(KeepSerializer, request.data)
        parsed_address = address_parse(QueryDict(data["address"]))
        if parsed_address.problems:
            raise ValidationError({problem.field: [problem.detail] for problem in parsed_address.problems})
        machine, _ = trained_machine_create(
            user=request.user,
            config=parsed_address.config,
            preset=parsed_address.preset,
            games=parsed_address.games,
            name=data["name"],
        )
        return Response(MachineSerializer(machine, context={"request": request}).data, status=201)
