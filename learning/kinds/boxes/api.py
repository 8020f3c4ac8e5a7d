"""API views of a machine's boxes: the list, and the box of a position."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from games.accounts.principal import Principal
from learning.access import cause_hidden, machine_for
from learning.kinds.boxes.filters import BoxFilter
from learning.kinds.boxes.look import box_get, box_history
from learning.kinds.boxes.serializers import BoxDetailSerializer, BoxSerializer
from learning.kinds.boxes.training import visits_of_box
from learning.kinds.boxes.why import why_view
from learning.models import AnyBox, Box, Machine

MAX_HISTORY_ENTRIES = 200


class BoxListView(GenericAPIView[AnyBox]):
    """The boxes of a machine, in pages, with filters and orderings."""

    serializer_class = BoxSerializer
    filterset_class = BoxFilter
    queryset = Box.objects.none()

    @cached_property
    def machine(self) -> Machine:
        """The machine named in the URL."""
        return machine_for(self.request.user, self.kwargs["ref"])

    @extend_schema(operation_id="machines_boxes_list", responses={200: BoxSerializer(many=True)})
    def get(self, request: Request, ref: str) -> Response:
        """A page of boxes, by default in order of play."""
        cabinet = self.machine.cabinet  # refuses a machine without boxes
        boxes = self.filter_queryset(self.machine.boxes.all())
        page: Any = self.paginate_queryset(boxes)
        entries = BoxSerializer(page, many=True, context={"cabinet": cabinet}).data
        return self.get_paginated_response(entries)


class BoxView(APIView):
    """The box that a position opens."""

    @extend_schema(responses={200: BoxDetailSerializer})
    def get(self, request: Request, ref: str, position: str) -> Response:
        """The box with its history, and the slot, beads and probability of each legal move.

        Moves have the orientation of the position asked for.
        """
        machine = machine_for(request.user, ref)
        cabinet = machine.cabinet  # refuses a machine without boxes
        box = box_get(machine, position)
        why = why_view(machine, position)
        hidden = cause_hidden(Principal.of(request.user), "lesson__")
        answer = {
            "asked": position,
            "symmetry": why["symmetry"],
            "box": box,
            "moves": why["moves"],
            "visits": [{"against": slug, **found._asdict()} for slug, found in visits_of_box(machine, box.position)],
            "history": box_history(box).annotate(is_hidden=hidden)[:MAX_HISTORY_ENTRIES],
        }
        return Response(BoxDetailSerializer(answer, context={"cabinet": cabinet}).data)
