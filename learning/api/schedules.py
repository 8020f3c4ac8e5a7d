"""Schedules: an account sees and changes only its own; those of others answer 404."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.accounts.authentication import AccountRequired, ScopePermission
from games.accounts.principal import Principal
from games.accounts.throttles import WriteThrottle
from games.live.serializers import parse_data, refusal_responses
from learning.exceptions import MachineNotFoundError, MachineWrongSideError, ScheduleNotFoundError, ScheduleQuotaError
from learning.filters import ScheduleFilter
from learning.models import Schedule
from learning.selectors.schedules import schedule_for, schedule_view, schedules_of
from learning.serializers.schedules import ScheduleCreateSerializer, ScheduleSerializer, ScheduleUpdateSerializer
from learning.services import schedules as services_schedules


class ScheduleListView(GenericAPIView[Schedule]):
    """The schedules of the requesting account."""

    serializer_class = ScheduleSerializer
    filterset_class = ScheduleFilter
    permission_classes = [ScopePermission, AccountRequired]
    queryset = Schedule.objects.none()
    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    def get_queryset(self) -> QuerySet[Schedule]:
        """Return the account's schedules, newest first."""
        return schedules_of(self.request.user)

    @extend_schema(operation_id="schedules_list", responses={200: ScheduleSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return a page of schedules, newest first, each with its next five runs."""
        page: Any = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([schedule_view(schedule, Principal.of(request.user)) for schedule in page])

    @extend_schema(
        request=ScheduleCreateSerializer,
        responses={
            201: ScheduleSerializer,
            **refusal_responses(MachineNotFoundError, MachineWrongSideError, ScheduleQuotaError),
        },
    )
    def post(self, request: Request) -> Response:
        """Create a schedule for a machine that the account may train."""
        data = parse_data(ScheduleCreateSerializer, request.data)
        schedule = services_schedules.schedule_create(user=request.user, **data)
        return Response(schedule_view(schedule_for(request.user, schedule.pk), Principal.of(request.user)), status=201)


class ScheduleView(APIView):
    """A single schedule, by its id."""

    permission_classes = [ScopePermission, AccountRequired]

    @extend_schema(responses={200: ScheduleSerializer})
    def get(self, request: Request, schedule_id: int) -> Response:
        """Return the schedule with its next five runs."""
        return Response(schedule_view(schedule_for(request.user, int(schedule_id)), Principal.of(request.user)))

    @extend_schema(
        request=ScheduleUpdateSerializer,
        responses={
            200: ScheduleSerializer,
            **refusal_responses(ScheduleNotFoundError, MachineNotFoundError, MachineWrongSideError),
        },
    )
    def patch(self, request: Request, schedule_id: int) -> Response:
        """Change the timing, opponents or seed of the schedule; pause or resume it."""
        schedule_for(request.user, int(schedule_id), "change")
        data = parse_data(ScheduleUpdateSerializer, request.data)
        schedule = services_schedules.schedule_update(user=request.user, schedule_id=int(schedule_id), **data)
        return Response(schedule_view(schedule, Principal.of(request.user)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, schedule_id: int) -> Response:
        """Delete the schedule. The runs that it started are kept."""
        services_schedules.schedule_delete(user=request.user, schedule_id=int(schedule_id))
        return Response(status=204)
