"""Template tag for results in 100 games: ``{% of_hundred result.win result.draw result.loss as hundred %}``."""

from __future__ import annotations

from django import template

from beadbox.apportionment import apportion

register = template.Library()


@register.simple_tag
def of_hundred(win: float, draw: float, loss: float) -> dict[str, int]:
    """Return whole numbers of games won, drawn and lost that sum to 100, from the probability of each."""
    return dict(zip(("win", "draw", "loss"), apportion([win, draw, loss]), strict=True))
