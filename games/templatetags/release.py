"""``{% load release %}{% version %}``: the version of Beadbox that this process runs."""

from django import template

from beadbox import __version__

register = template.Library()


@register.simple_tag
def version() -> str:
    """Return the version of Beadbox that this process runs."""
    return __version__
