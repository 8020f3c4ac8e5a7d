"""Export and import of machines as files."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from beadbox import field_text
from beadbox.learners.exchange.file_text import MAX_BYTES
from beadbox.learners.formats import FORMATS
from beadbox.rules.outcome import Side
from games.accounts.throttles import WriteThrottle
from games.exceptions import MalformedError
from games.live.serializers import StrictSerializer, refusal_responses
from games.validators import name_validate
from learning.access import machine_for
from learning.exceptions import MachineQuotaError, ValueQuotaError
from learning.kinds.machines import import_notes, machine_export
from learning.models import Machine
from learning.serializers.base import SlugChoiceField
from learning.serializers.machines import MachineSerializer
from learning.services import machines as services

_FORMAT = OpenApiParameter("format", str, enum=list(FORMATS))


class WholeBodyParser(BaseParser):
    """Parser that returns the raw body: error messages name lines of the file."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream.read(MAX_BYTES + 1)


class JsonFileParser(WholeBodyParser):
    """Parser of a JSON body, which is the file."""

    media_type = "application/json"


class CsvFileParser(WholeBodyParser):
    """Parser of a CSV body, which is the file."""

    media_type = "text/csv"


class AnyFileParser(WholeBodyParser):
    """Parser of a body of any other type, which is also the file: its format is detected from the content."""

    media_type = "*/*"


class ImportOptionsSerializer(StrictSerializer):
    """Options of an import for values that the file does not contain."""

    format = SlugChoiceField(
        choices=list(FORMATS), required=False, help_text="By default the format is inferred from the file."
    )
    name = serializers.CharField(max_length=80, required=False, allow_blank=True, validators=[name_validate])
    game = serializers.SlugField(max_length=40, required=False)
    side = serializers.ChoiceField(
        choices=[0, 1], required=False, help_text="The side to import, for a file with both sides."
    )
    preset = serializers.SlugField(
        max_length=40,
        required=False,
        help_text="The preset by which the machine will learn; by default that of the file's format.",
    )


class SetAsideSerializer(serializers.Serializer[Any]):
    """Beads of the file on occupied squares, which are not imported."""

    beads = serializers.IntegerField()
    boxes = serializers.IntegerField(help_text="The number of boxes with such beads.")


class ImportedMachineSerializer(MachineSerializer):
    """An imported machine, with notes on how its file was read."""

    set_aside = serializers.SerializerMethodField(
        help_text="Beads of the file on occupied squares, which are not imported."
    )
    notes = serializers.SerializerMethodField(
        help_text="Sentences about the rule and how to choose another. Others say which beads are not imported, and "
        "whether the machine has stopped playing."
    )

    class Meta(MachineSerializer.Meta):
        fields = (*MachineSerializer.Meta.fields, "set_aside", "notes")
        read_only_fields = fields

    @extend_schema_field(SetAsideSerializer)
    def get_set_aside(self, machine: Machine) -> dict[str, int]:
        """Count the beads on occupied squares and their boxes; zero for the files of most programs."""
        reading = getattr(self.context["data"], "reading", None)
        beads, boxes = (reading.beads_set_aside, reading.boxes_set_aside) if reading else (0, 0)
        return {"beads": beads, "boxes": boxes}

    def get_notes(self, machine: Machine) -> list[str]:
        """Return the same notes as the import page and command, with a hint for API clients."""
        return import_notes(machine, self.context["data"], "name a preset with ?preset=")


class FileNegotiation(DefaultContentNegotiation):
    """Negotiation that ignores ``Accept``: ``?format=`` selects the file format, and errors are JSON."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """Select the first renderer, which only errors use."""
        return renderers[0], renderers[0].media_type


class MachineExportView(APIView):
    """Export of a machine as a file."""

    content_negotiation_class = FileNegotiation

    @extend_schema(
        parameters=[_FORMAT],
        responses={(200, "application/json"): OpenApiTypes.ANY, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, ref: str) -> HttpResponse:
        """Return the machine in one of the formats; ``native`` is lossless and re-imports to an identical machine."""
        machine = machine_for(request.user, ref, to="export")
        file = machine_export(machine, request.query_params.get("format") or "native")
        answer = HttpResponse(file.text, content_type=f"{file.media_type}; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{file.name}"'
        return answer


class MachineImportView(APIView):
    """Import of a machine from a file."""

    parser_classes = [JsonFileParser, CsvFileParser, MultiPartParser, AnyFileParser]
    throttle_classes = [*APIView.throttle_classes, WriteThrottle]

    @extend_schema(
        request={
            "application/json": OpenApiTypes.OBJECT,
            "text/csv": OpenApiTypes.STR,
            "multipart/form-data": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "required": ["file"],
            },
        },
        parameters=[ImportOptionsSerializer],
        responses={201: ImportedMachineSerializer, **refusal_responses(MachineQuotaError, ValueQuotaError)},
    )
    def post(self, request: Request) -> Response:
        """Import a machine. The file (up to 4 MB) is the body, or the part ``file`` of a form.

        An import succeeds completely or changes nothing.
        """
        content, fields = _content(request)
        serializer = ImportOptionsSerializer(data={**request.query_params.dict(), **fields})
        serializer.is_valid(raise_exception=True)
        options = serializer.validated_data
        side = options.get("side")
        imported = services.machine_import(
            user=request.user,
            content=content,
            file_format=options.get("format", ""),
            game=options.get("game", ""),
            side=None if side is None else Side(side),
            preset=options.get("preset", ""),
            name=options.get("name", ""),
        )
        answer = ImportedMachineSerializer(imported.machine, context={"data": imported.data, "request": request})
        return Response(answer.data, status=201)


def _content(request: Request) -> tuple[bytes, dict[str, Any]]:
    """Return the file of a request, and the other fields of its form.

    Raises:
        MalformedError: a form without the part ``file``.
    """
    data: Any = request.data
    if isinstance(data, bytes):
        return data, {}
    file = request.FILES.get("file")
    if file is None:
        raise MalformedError(f"file: {field_text.NO_FILE}")
    fields = {name: value for name, value in data.dict().items() if name not in ("file", "csrfmiddlewaretoken")}
    return file.read(MAX_BYTES + 1), fields
