"""``{% module "js/room.js" %}``: a page's script, and beside it every module that it will ask for.

Left alone a browser reads one module to learn of the next, and pays a round trip for each step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath
from urllib.parse import quote

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

COMMENT = re.compile(r"^ *(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r'url\("\.\./(img/[\w.]+\.svg)"\)')
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (\w+))", re.MULTILINE)
NAMES = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";', re.MULTILINE)

IMPORT = re.compile(r'^(?:import|export)\b[^;]*?"(\.\.?/[\w./-]+)";', re.MULTILINE)


@register.simple_tag
def module(path: str) -> SafeString:
    """The script at this path of the static files, and a hint to fetch what it imports, near and far."""
    hints = format_html_join("", '<link rel="modulepreload" href="{}">', ((static(one),) for one in imported(path)))
    return format_html('{}<script type="module" src="{}"></script>', hints, static(path))


@cache
def imported(path: str) -> tuple[str, ...]:
    """The modules that a script of the static files imports, and those that they do: each once, the nearest first."""
    found: dict[str, None] = {}
    reading = [path]
    for one in reading:
        file = finders.find(one)
        names = IMPORT.findall(Path(file).read_text()) if isinstance(file, str) else []
        nearest = [normpath(f"{dirname(one)}/{name}") for name in names]
        reading += [each for each in nearest if each not in found]
        found |= dict.fromkeys(nearest)
    return tuple(found)


@register.simple_tag
def inline(path: str) -> SafeString:
    """The text of a static file, to stand within a page; a style sheet's pictures stand within it."""
    text = PICTURE.sub(lambda found: f"url(data:image/svg+xml,{quote(_text(found[1]))})", _text(path))
    return mark_safe(text.replace("</script", r"<\/script"))  # noqa: S308  # our own files


@register.simple_tag
def bundle(path: str) -> SafeString:
    """The script at this path and the modules that it imports as one classic script: files on a disk import nothing."""
    parts = ['"use strict"; const modules = {};']
    for one in dict.fromkeys([*_depth_first(path)]):
        text = NAMES.sub(
            lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = modules[{found[2]!r}];", _text(one)
        )
        names = EXPORT.findall(text)
        body = EXPORT.sub("", text)
        assert not IMPORT.search(body), f"{one} imports or exports in another way"
        parts.append(f"modules[{one.rpartition('/')[2]!r}] = (() => {{{body}return {{{', '.join(names)}}};}})();")
    return mark_safe("\n".join(parts).replace("</script", r"<\/script"))  # noqa: S308  # our own files


def _depth_first(path: str) -> Iterator[str]:
    """The modules that a script imports, each before those that need it, and the script."""
    for name in IMPORT.findall(_text(path)):
        yield from _depth_first(normpath(f"{dirname(path)}/{name}"))
    yield path


@cache
def _text(path: str) -> str:
    """A static file without the comments that stand on lines of their own."""
    file = finders.find(path)
    assert isinstance(file, str), path
    return COMMENT.sub("", Path(file).read_text())
