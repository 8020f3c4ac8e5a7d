"""The table of a class, for pages on networks that block sockets."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from games.accounts.principal import Principal
from games.live.api import PollingView
from games.live.serializers import refusal_responses
from learning.exceptions import NotYourClassError
from learning.kinds.class_table import classroom_table, record_pupil_page, redact_table
from learning.selectors.classrooms import classroom_for_viewer
from learning.states import ClassTable


class ClassTableView(PollingView):
    """The table of a class, for its teacher, its pupils, and browsers that have opened its page for the projector."""

    @extend_schema(
        operation_id="classes_table",
        responses={200: OpenApiResponse(ClassTable, "As the frame `table`."), **refusal_responses(NotYourClassError)},
    )
    def get(self, request: Request, classroom_id: int) -> Response:
        """Return the pupils of the class in order of points, at most a second old."""
        viewer = Principal.of(request.user)
        classroom, pupil = classroom_for_viewer(viewer, int(classroom_id))
        if pupil is not None:
            record_pupil_page(pupil.pk, "rest")
        return Response(redact_table(classroom_table(classroom), is_teacher=viewer.user_id == classroom.teacher_id))
