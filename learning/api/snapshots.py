"""Snapshots of a machine: their measured strength, their weights, and the choice of the one that plays."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.live.serializers import parse_data, refusal_responses
from games.transport.paging import parameter_names_require
from learning.access import machine_for
from learning.exceptions import MachineBusyError, NoWeightsError, SnapshotFarError, SnapshotNotFoundError
from learning.kinds.snapshots import snapshot_weights
from learning.selectors.snapshots import snapshot_get, snapshots_view
from learning.serializers.snapshots import KnewSerializer, SnapshotChooseSerializer, SnapshotSerializer
from learning.services.snapshots import snapshot_choose


class SnapshotListView(APIView):
    """The snapshots of a machine's training."""

    @extend_schema(operation_id="machines_snapshots_list", responses={200: SnapshotSerializer(many=True)})
    def get(self, request: Request, ref: str) -> Response:
        """Return all snapshots, oldest first, with the measurements of each."""
        parameter_names_require(request, ())
        return Response(snapshots_view(machine_for(request.user, ref)))


class SnapshotChooseView(APIView):
    """The choice of the snapshot that plays."""

    @extend_schema(
        request=SnapshotChooseSerializer,
        responses={
            200: SnapshotSerializer(many=True),
            **refusal_responses(SnapshotNotFoundError, MachineBusyError, SnapshotFarError),
        },
    )
    def post(self, request: Request, ref: str) -> Response:
        """Let the machine play and learn on from one of its snapshots; later lessons remain in its ledger."""
        machine = machine_for(request.user, ref, to="train")
        data = parse_data(SnapshotChooseSerializer, request.data)
        snapshot_choose(user=request.user, machine_id=machine.pk, choice=data["snapshot"])
        return Response(snapshots_view(machine))


class SnapshotWeightsView(APIView):
    """The weights of a value-learning machine at a snapshot."""

    @extend_schema(responses={200: KnewSerializer, **refusal_responses(SnapshotNotFoundError, NoWeightsError)})
    def get(self, request: Request, ref: str, snapshot_id: str) -> Response:
        """Return the weights before and after the lesson in which the snapshot was taken."""
        machine = machine_for(request.user, ref, to="export")
        return Response(snapshot_weights(machine, snapshot_get(machine, int(snapshot_id))))
