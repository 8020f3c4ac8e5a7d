"""``{% of_hundred result.win result.draw result.loss as hundred %}``: numbers of 100 games that add up to 100."""

from __future__ import annotations

from django import template

from beadbox.apportionment import apportion

register = template.Library()


@register.simple_tag
def of_hundred(win: float, draw: float, loss: float) -> dict[str, int]:
    """Games won, drawn and lost of 100, by the chance of each."""
    return dict(zip(("win", "draw", "loss"), apportion([win, draw, loss]), strict=True))
