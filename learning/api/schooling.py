"""Machines that learn before one's eyes: read an address, work out what it stands for, answer. ``docs/learn.md``."""

from __future__ import annotations

from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.identity import address_of
from games.serializers import parsed, refusals
from games.throttles import SchoolingThrottle, StartThrottle
from learning.exceptions import MachineQuotaError, SchoolingBusyError
from learning.forms.schooling import KNOWN, Asked, asked_read
from learning.selectors import schooling as selectors_schooling
from learning.serializers.machines import MachineSerializer
from learning.serializers.schooling import (
    AddressSerializer,
    BandAskedSerializer,
    BandSerializer,
    KeepSerializer,
    MachineAskedSerializer,
    PupilSerializer,
    WallSerializer,
)
from learning.services.schooling import schooling_keep

ADDRESS = [OpenApiParameter(name, str, description="A part of the address: docs/learn.md.") for name in KNOWN]


def asked_strictly(query: QueryDict, *others: str) -> Asked:
    """What a query asks for, its ``others`` apart, which are no part of an address.

    Raises:
        ValidationError: a part of it could not be used; the field is named.
    """
    address = query.copy()
    for name in others:
        address.pop(name, None)
    asked = asked_read(address)
    if asked.problems:
        raise ValidationError({problem.field: [problem.detail] for problem in asked.problems})
    return asked


class SchoolingView(APIView):
    """A look at a machine that learns: nothing is read or written, so nobody has to be known.

    So it is answered while the database is away or hangs.
    """

    authentication_classes = ()
    throttle_classes = (SchoolingThrottle,)


class AddressView(SchoolingView):
    """How an address is read."""

    @extend_schema(parameters=ADDRESS, responses={200: AddressSerializer, **refusals(SchoolingBusyError)})
    def get(self, request: Request) -> Response:
        """Every part of an address; what could not be used is told, and the nearest that makes sense stands there."""
        with selectors_schooling.DESK.beside(address_of(request)):
            return Response(asked_read(request.query_params).told)


class BoxesView(SchoolingView):
    """The wall before the first game."""

    @extend_schema(parameters=ADDRESS, responses={200: WallSerializer, **refusals(SchoolingBusyError)})
    def get(self, request: Request) -> Response:
        """All boxes of the machine, packed."""
        with selectors_schooling.DESK.beside(address_of(request)):
            return Response(selectors_schooling.boxes_view(asked_strictly(request.query_params).schooling))


class MachineView(SchoolingView):
    """A machine after so many games."""

    @extend_schema(
        parameters=[*ADDRESS, MachineAskedSerializer],
        responses={200: PupilSerializer, **refusals(SchoolingBusyError)},
    )
    def get(self, request: Request) -> Response:
        """Its beads, totals and strength, as far as it gets; its curve and its last game if asked for."""
        who, more = address_of(request), parsed(MachineAskedSerializer, request.query_params)
        with selectors_schooling.DESK.beside(who):
            asked = asked_strictly(request.query_params, "since", "moves")
            view = selectors_schooling.machine_view(
                asked.schooling, asked.games, asked.against, since=more.get("since"), moves=more["moves"], who=who
            )
        return Response(view)


class KeepView(APIView):
    """A machine that was watched becomes one's own."""

    throttle_classes = (*APIView.throttle_classes, StartThrottle)

    @extend_schema(
        request=KeepSerializer,
        responses={201: MachineSerializer, **refusals(MachineQuotaError, SchoolingBusyError)},
    )
    def post(self, request: Request) -> Response:
        """Make a machine with those very beads; it belongs to the account."""
        data = parsed(KeepSerializer, request.data)
        asked = asked_strictly(QueryDict(data["address"]))
        machine = schooling_keep(
            user=request.user,
            schooling=asked.schooling,
            preset=asked.preset,
            games=asked.games,
            name=data["name"],
            who=address_of(request),
        )
        return Response(MachineSerializer(machine, context={"request": request}).data, status=201)


class BandView(SchoolingView):
    """How machines with one rule fare."""

    @extend_schema(
        parameters=[*ADDRESS, BandAskedSerializer],
        responses={200: BandSerializer, **refusals(SchoolingBusyError)},
    )
    def get(self, request: Request) -> Response:
        """The median, the quarters and ninety per cent of 200 machines, as far as it gets."""
        who, until = address_of(request), parsed(BandAskedSerializer, request.query_params)["until"]
        with selectors_schooling.DESK.beside(who):
            asked = asked_strictly(request.query_params, "until")
            view = selectors_schooling.band_view(asked.schooling, asked.against, until, who)
        return Response(view)
