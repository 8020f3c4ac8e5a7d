"""Validation of request text: UTF-8, no NUL, no lone surrogates, so that it can be stored and returned."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from games.exceptions import MalformedError

READABLE_ENCODINGS = {"utf-8", "ascii"}


class ReadableRequests(MiddlewareMixin):
    """Refuses a body that declares another encoding than UTF-8 or ASCII, and a NUL in the query.

    Django accepts every Python codec as an encoding, even ``hex``, and fails when it decodes a form with such a codec.
    PostgreSQL stores no NUL in text.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Raise ``BadRequest`` for an unreadable encoding or a NUL."""
        charset = (request.content_params or {}).get("charset")
        if charset is not None and not _is_readable(charset):
            raise BadRequest(
                f"The encoding {charset!a} is not read here. Send UTF-8, or a file without naming its encoding."
            )
        if "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("The query holds a NUL.")


def _is_readable(charset: str) -> bool:
    try:
        return codecs.lookup(charset).name in READABLE_ENCODINGS
    except (LookupError, ValueError):
        return False


class WholeTextParser(JSONParser):
    """Parses JSON with or without a byte order mark, and refuses texts with lone surrogates.

    JSON can escape a lone surrogate, but UTF-8 cannot encode it.
    """

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, object] | None = None
    ) -> dict[str, object]:
        """Return the parsed JSON of the request body.

        Raises:
            MalformedError: the body is UTF-16.
            ParseError: the body is no JSON, or a text has a lone surrogate.
        """
        content = stream.read().removeprefix(codecs.BOM_UTF8)
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise MalformedError("The body is UTF-16. Send it as UTF-8.")
        data: dict[str, Any] = super().parse(io.BytesIO(content), media_type, parser_context)
        if b"\\ud" in content.lower():
            try:
                json.dumps(data, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                raise ParseError("A text holds half a character.") from None
        return data
