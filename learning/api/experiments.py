"""Experiments: list them, run one, read its result, and stop it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from beadbox.experiments.registry import EXPERIMENTS
from games.accounts.identity import principal_of
from games.accounts.throttles import WriteThrottle
from games.live.api import PollingView
from games.live.serializers import parse_data, refusal_responses
from learning.access import staff_may
from learning.exceptions import ExperimentQuotaError
from learning.filters import ExperimentRunFilter
from learning.models import ExperimentRun, JobStatus
from learning.selectors import experiments as selectors_experiments
from learning.serializers.experiments import (
    ExperimentRunDetailSerializer,
    ExperimentRunSerializer,
    ExperimentRunStartSerializer,
    ExperimentSerializer,
)
from learning.services import experiments as services_experiments


class ExperimentListView(GenericAPIView[ExperimentRun]):
    """The list of experiments that can be run."""

    serializer_class = ExperimentSerializer
    queryset = ExperimentRun.objects.none()

    @extend_schema(operation_id="experiments_list", responses={200: ExperimentSerializer(many=True)}, filters=False)
    def get(self, request: Request) -> Response:
        """Return every experiment with its parameters and their ranges."""
        experiments: Any = [selectors_experiments.experiment_view(experiment) for experiment in EXPERIMENTS.values()]
        return self.get_paginated_response(self.paginate_queryset(experiments))


class ExperimentRunListView(GenericAPIView[ExperimentRun]):
    """The runs of all experiments, and requests for new ones."""

    serializer_class = ExperimentRunSerializer
    filterset_class = ExperimentRunFilter
    queryset = ExperimentRun.objects.none()
    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    def get_queryset(self) -> QuerySet[ExperimentRun]:
        """Return the runs, newest first, without their results, which are large."""
        return selectors_experiments.experiment_runs().defer("result")

    @extend_schema(operation_id="experiment_runs_list", responses={200: ExperimentRunSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """Return a page of runs, newest first, without their results."""
        page: Any = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([selectors_experiments.experiment_run_brief(run) for run in page])

    @extend_schema(
        request=ExperimentRunStartSerializer,
        responses={
            200: ExperimentRunDetailSerializer,
            202: ExperimentRunDetailSerializer,
            **refusal_responses(ExperimentQuotaError),
        },
    )
    def post(self, request: Request) -> Response:
        """Request an experiment: 200 with the result if an equal run has finished, else 202, and a worker runs it."""
        run = services_experiments.experiment_request(
            person=principal_of(request.user, None), **parse_data(ExperimentRunStartSerializer, request.data)
        )
        status = 200 if run.status == JobStatus.FINISHED else 202
        return Response(selectors_experiments.experiment_run_view(run), status=status)


class ExperimentRunView(PollingView):
    """A single run of an experiment."""

    @extend_schema(responses={200: ExperimentRunDetailSerializer})
    def get(self, request: Request, run_id: int) -> Response:
        """Return the progress of the run, and its result once finished."""
        return Response(
            selectors_experiments.experiment_run_view(selectors_experiments.experiment_run_for(int(run_id)))
        )


class ExperimentRunCancelView(APIView):
    """Cancellation of a run of an experiment."""

    @extend_schema(request=None, responses={200: ExperimentRunDetailSerializer})
    def post(self, request: Request, run_id: int) -> Response:
        """Stop the run; a finished run does not change. Only the requester of the run and staff may stop it."""
        run = services_experiments.experiment_cancel(
            person=principal_of(request.user, None),
            run_id=int(run_id),
            is_staff=staff_may(request.user, "change_experimentrun"),
        )
        return Response(selectors_experiments.experiment_run_view(run))
