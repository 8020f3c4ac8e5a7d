"""JSON bodies of a bounded size. REST framework reads the stream itself and so passes by Django's own limit."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.parsers import JSONParser


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is too large."
    default_code = "too_large"


class SmallJSONParser(JSONParser):
    """The JSON parser of every view that does not choose another: at most ``DATA_UPLOAD_MAX_MEMORY_SIZE`` bytes."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise BodyTooLarge
        return super().parse(BytesIO(body), media_type, parser_context)
