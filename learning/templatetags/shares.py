"""Template tags for results in 100 games.

``{% of_hundred result.win result.draw result.loss as hundred %}`` and ``{{ share|per_hundred }}``.
"""

from __future__ import annotations

from django import template

from beadbox.apportionment import apportion

register = template.Library()


@register.simple_tag
def of_hundred(win: float, draw: float, loss: float) -> dict[str, int]:
    """Return whole numbers of games won, drawn and lost that sum to 100, from the probability of each."""
    return dict(zip(("win", "draw", "loss"), apportion([win, draw, loss]), strict=True))


@register.filter
def per_hundred(share: float) -> str:
    """Return a share as a number out of 100 with three significant digits: 0.00012 is 0.012, and not 0."""
    if 0 < share < 1e-8:
        return "less than 0.000001"
    return f"{float(f'{100 * share:.3g}'):.10f}".rstrip("0").rstrip(".")
