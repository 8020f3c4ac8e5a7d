"""``{% module "js/room.js" %}``: a page's script, with preload hints for all modules that it imports.

Without hints, a browser finds the imports of a module only after loading the module: a round trip for each level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any
from urllib.parse import quote

from django import template
from django.contrib.staticfiles import finders
from django.core.serializers.json import DjangoJSONEncoder
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join, json_script
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

COMMENT_PATTERN = re.compile(r"^ *(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
OMITTED_PATTERN = re.compile(
    r"^[ \t]*(?:(?://.*|/\*(?:[^*]|\*(?!/))*\*/)[ \t]*\n)?|/\*\* @type [^*]*\*/ ?", re.MULTILINE
)
"""Indentation, a comment on separate lines, and a type. Saved pages leave them out, so that the pages are smaller."""
PICTURE_PATTERN = re.compile(r'url\("\.\./(img/[\w.]+\.svg)"\)')
EXPORT_PATTERN = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (\w+))", re.MULTILINE)
NAMES_PATTERN = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";', re.MULTILINE)

IMPORT_PATTERN = re.compile(r'^(?:import|export)\b[^;]*?"(\.\.?/[\w./-]+)";', re.MULTILINE)


@register.simple_tag
def module(path: str) -> SafeString:
    """Return the HTML of a module script, with preload hints for its direct and indirect imports."""
    hints = format_html_join(
        "", '<link rel="modulepreload" href="{}">', ((static(import_path),) for import_path in imported_modules(path))
    )
    return format_html('{}<script type="module" src="{}"></script>', hints, static(path))


@cache
def imported_modules(path: str) -> tuple[str, ...]:
    """Return the modules that a script of the static files imports, directly or indirectly, the direct ones first."""
    imports: dict[str, None] = {}
    queue = [path]
    for script in queue:
        file = finders.find(script)
        names = IMPORT_PATTERN.findall(Path(file).read_text()) if isinstance(file, str) else []
        direct = [normpath(f"{dirname(script)}/{name}") for name in names]
        queue += [module_path for module_path in direct if module_path not in imports]
        imports |= dict.fromkeys(direct)
    return tuple(imports)


@register.simple_tag
def inline(path: str) -> SafeString:
    """Return the text of a static file for use within a page. Pictures of a style sheet are embedded."""
    text = PICTURE_PATTERN.sub(lambda match: f"url(data:image/svg+xml,{quote(_text(match[1]))})", _text(path))
    return mark_safe(OMITTED_PATTERN.sub("", text).replace("</script", r"<\/script"))  # noqa: S308  # our own files


class CompactJson(DjangoJSONEncoder):
    """Encoder of JSON that writes no blanks between values."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "separators": (",", ":")})


@register.filter
def compact_json(value: object, block: str) -> SafeString:
    """Return the HTML of a JSON block without blanks, for saved pages."""
    return json_script(value, block, CompactJson)


@register.simple_tag
def bundle(path: str) -> SafeString:
    """Return a script and its imports as one classic script, for saved pages, which cannot import modules."""
    parts = ['"use strict"; const modules = {};']
    for script in dict.fromkeys([*_depth_first(path)]):
        text = NAMES_PATTERN.sub(
            lambda match: f"const {{{match[1].replace(' as ', ': ')}}} = modules[{match[2]!r}];",
            OMITTED_PATTERN.sub("", _text(script)),
        )
        names = EXPORT_PATTERN.findall(text)
        body = EXPORT_PATTERN.sub("", text)
        assert not IMPORT_PATTERN.search(body), f"{script} imports or exports in another way"
        parts.append(f"modules[{script.rpartition('/')[2]!r}] = (() => {{{body}return {{{', '.join(names)}}};}})();")
    return mark_safe("\n".join(parts).replace("</script", r"<\/script"))  # noqa: S308  # our own files


def _depth_first(path: str) -> Iterator[str]:
    """Yield the modules that a script imports, each before its importers, and then the script itself."""
    for name in IMPORT_PATTERN.findall(_text(path)):
        yield from _depth_first(normpath(f"{dirname(path)}/{name}"))
    yield path


@cache
def _text(path: str) -> str:
    """Return the text of a static file, without comments that fill whole lines."""
    file = finders.find(path)
    assert isinstance(file, str), path
    return COMMENT_PATTERN.sub("", Path(file).read_text())
