"""``{% module "js/room.js" %}``: a page's script, and beside it every module that it will ask for.

Left alone a browser reads one module to learn of the next, and pays a round trip for each step.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

IMPORT = re.compile(r'^(?:import|export)\b[^;]*?"\./([\w.]+)";', re.MULTILINE)


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
        nearest = [f"{one.rpartition('/')[0]}/{name}" for name in names]
        reading += [each for each in nearest if each not in found]
        found |= dict.fromkeys(nearest)
    return tuple(found)
