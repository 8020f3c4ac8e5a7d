"""``{% qr url %}`` draws a QR code of an address as an SVG that fills its parent."""

from __future__ import annotations

from io import BytesIO

import segno
from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def qr(url: str) -> SafeString:
    """Return the QR code as SVG. It is black on white in the dark theme too, because some phones need this."""
    drawn = BytesIO()
    code = segno.make(url, micro=False)
    code.save(
        drawn,
        kind="svg",
        xmldecl=False,
        svgns=False,
        nl=False,
        omitsize=True,
        title=f"QR code of {url}",
        svgclass="qr",
        lineclass=None,
        light="#fff",
    )
    return mark_safe(drawn.getvalue().decode())  # noqa: S308 # segno escapes the title
