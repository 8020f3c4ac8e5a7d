"""Training runs: start them, follow their progress, and cancel them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.accounts.principal import Principal
from games.accounts.throttles import WriteThrottle
from games.live.api import PollingView
from games.live.serializers import parse_data, refusal_responses
from learning.access import run_for, runs_visible
from learning.exceptions import MachineNotFoundError, MachineWrongSideError, RunOverError, RunQuotaError
from learning.filters import RunFilter
from learning.models import TrainingRun
from learning.selectors.runs import STAGES_PREFETCH, run_detail, run_view
from learning.serializers.runs import RunDetailSerializer, RunSerializer, RunStartSerializer
from learning.services import runs as services_runs


class RunListView(GenericAPIView[TrainingRun]):
    """Training runs of machines that the account may see."""

    serializer_class = RunSerializer
    filterset_class = RunFilter
    queryset = TrainingRun.objects.none()
    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    def get_queryset(self) -> QuerySet[TrainingRun]:
        """Return the visible runs, newest first."""
        return runs_visible(self.request.user).prefetch_related(STAGES_PREFETCH).order_by("-pk")

    @extend_schema(operation_id="training_runs_list", responses={200: RunSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return a page of runs, newest first, without their curves."""
        page: Any = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([run_view(run, Principal.of(request.user)) for run in page])

    @extend_schema(
        request=RunStartSerializer,
        responses={
            201: RunDetailSerializer,
            **refusal_responses(MachineNotFoundError, MachineWrongSideError, RunQuotaError),
        },
    )
    def post(self, request: Request) -> Response:
        """Start a run, which is trained in the background."""
        run = services_runs.training_run_request(user=request.user, **parse_data(RunStartSerializer, request.data))
        return Response(run_detail(run, Principal.of(request.user)), status=201)


class RunView(PollingView):
    """A single training run, by its id."""

    @extend_schema(responses={200: RunDetailSerializer})
    def get(self, request: Request, run_id: int) -> Response:
        """Return the progress of the run, and its curve so far."""
        return Response(run_detail(run_for(request.user, int(run_id)), Principal.of(request.user)))


class RunCancelView(APIView):
    """Cancellation of a training run."""

    @extend_schema(request=None, responses={200: RunDetailSerializer, **refusal_responses(RunOverError)})
    def post(self, request: Request, run_id: int) -> Response:
        """Ask the run to stop. A worker stops it within one chunk; what was learnt by then is kept."""
        if not services_runs.training_run_stop(user=request.user, run_id=int(run_id)):
            raise RunOverError
        return Response(run_detail(run_for(request.user, int(run_id)), Principal.of(request.user)))
