"""Machines, their progress, strength and learnt values."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.accounts.throttles import WriteThrottle
from games.live.api import PollingView
from games.live.serializers import parse_data, refusal_responses
from learning.access import is_own, machine_for, machines_visible
from learning.exceptions import MachineBusyError, MachineQuotaError, NoBoxesError, ValueQuotaError
from learning.filters import MachineFilter
from learning.kinds.registry import kind_of
from learning.kinds.serializers import POSITION_SERIALIZERS
from learning.models import Machine
from learning.serializers.machines import (
    MachineCloneSerializer,
    MachineCreateSerializer,
    MachineSerializer,
    MachineUpdateSerializer,
    StrengthSerializer,
)
from learning.services import machines as services
from learning.services.copies import machine_copy
from learning.states import Progress


def machine_data(machine: Machine, request: Request) -> Any:
    """Serialise a machine, with only the fields that the requesting account may see."""
    return MachineSerializer(machine, context={"request": request}).data


class MachineListView(ListAPIView[Machine]):
    """The machines that the account may see: public ones, and its own."""

    serializer_class = MachineSerializer
    filterset_class = MachineFilter
    queryset = Machine.objects.none()
    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    def get_queryset(self) -> QuerySet[Machine]:
        """Return the visible machines, oldest first."""
        return machines_visible(self.request.user).select_related("owner", "copied_from").order_by("pk")

    @extend_schema(
        request=MachineCreateSerializer, responses={201: MachineSerializer, **refusal_responses(MachineQuotaError)}
    )
    def post(self, request: Request) -> Response:
        """Create a machine from a preset or from a rule of its own."""
        data = parse_data(MachineCreateSerializer, request.data)
        machine = services.machine_create_for_account(user=request.user, is_public=data.pop("public"), **data)
        return Response(machine_data(machine, request), status=201)


class MachineView(PollingView):
    """A single machine, by id or slug."""

    @extend_schema(responses={200: MachineSerializer})
    def get(self, request: Request, ref: str) -> Response:
        """Return the machine without its boxes."""
        return Response(machine_data(machine_for(request.user, ref), request))

    @extend_schema(request=MachineUpdateSerializer, responses={200: MachineSerializer})
    def patch(self, request: Request, ref: str) -> Response:
        """Rename, describe, freeze or resume, publish or hide the machine."""
        machine = machine_for(request.user, ref, to="edit")
        data = parse_data(MachineUpdateSerializer, request.data)
        machine = services.machine_update(user=request.user, machine_id=machine.pk, **data)
        return Response(machine_data(machine, request))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, ref: str) -> Response:
        """Delete the machine with its boxes, its ledger and its training runs."""
        services.machine_delete(user=request.user, machine_id=machine_for(request.user, ref, to="delete").pk)
        return Response(status=204)


class MachineCloneView(APIView):
    """Copying of a machine that the account may see."""

    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    @extend_schema(
        request=MachineCloneSerializer,
        responses={201: MachineSerializer, **refusal_responses(MachineQuotaError, ValueQuotaError)},
    )
    def post(self, request: Request, ref: str) -> Response:
        """Copy a visible machine in its current state; the copy belongs to the requesting account."""
        machine = machine_for(request.user, ref)
        data = parse_data(MachineCloneSerializer, request.data)
        copy = machine_copy(user=request.user, machine_id=machine.pk, **data)
        return Response(machine_data(copy, request), status=201)


class MachineResetView(APIView):
    """Reset of a machine to its initial boxes or values."""

    @extend_schema(request=None, responses={200: MachineSerializer, **refusal_responses(MachineBusyError)})
    def post(self, request: Request, ref: str) -> Response:
        """Reset the machine to the start of its rule; everything that it has learnt is lost."""
        machine = machine_for(request.user, ref, to="edit")
        machine = services.machine_reset(user=request.user, machine_id=machine.pk)
        return Response(machine_data(machine, request))


class MachineStrengthView(APIView):
    """The measured strength of a machine."""

    @extend_schema(responses={200: StrengthSerializer})
    def get(self, request: Request, ref: str) -> Response:
        """Return win, draw and loss against random, win-block and perfect play, and in the worst case.

        The figures of boxes and of tables of values are exact. A table plays both sides: its figures are the mean of
        the two. In games whose positions cannot be listed, boxes are measured in a sample. A machine with weights has
        the figures of its last training, which are also a sample.
        """
        machine = machine_for(request.user, ref)
        return Response(kind_of(machine).training.strength(machine))


class MachineProgressView(PollingView):
    """The learning progress of a machine with boxes."""

    @extend_schema(responses={200: Progress, **refusal_responses(NoBoxesError)})
    def get(self, request: Request, ref: str) -> Response:
        """Return the games, latest matches, first move, and the results against perfect play during learning."""
        machine = machine_for(request.user, ref)
        return Response(kind_of(machine).page.progress(machine, to_owner=is_own(request.user, machine)))


class ValuesView(APIView):
    """The learnt values of a machine without boxes in a position."""

    @extend_schema(
        responses={
            200: PolymorphicProxySerializer(
                component_name="PositionView",
                serializers=POSITION_SERIALIZERS,
                resource_type_field_name=None,
            )
        }
    )
    def get(self, request: Request, ref: str, position: str) -> Response:
        """Return every action with its value, best first; either side may be to move."""
        machine = machine_for(request.user, ref)
        return Response(kind_of(machine).page.position_page(machine, position).context)
