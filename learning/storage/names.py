"""The names of machines that are about to be deleted, where they stay behind."""

from __future__ import annotations

from django.db.models import QuerySet

from games.models import HUMAN, Seat
from learning.models import Machine, RunStage, Tournament, TournamentEntry

NAME_GONE = "A machine that is gone"

STOPPED = "It had to stop, and a machine that is gone took part in it."


def names_forget(machines: QuerySet[Machine]) -> None:
    """Take the names of those that are private out of what stays when they are deleted, as they are about to be.

    With a machine goes what hides its name.
    """
    private = machines.filter(is_public=False)
    RunStage.objects.filter(opponent_machine__in=private).update(opponent_name="")
    Tournament.objects.filter(entries__machine__in=private).exclude(error="").update(error=STOPPED)
    TournamentEntry.objects.filter(machine__in=private).update(name=NAME_GONE)
    Seat.objects.filter(machine_seat__machine__in=private).exclude(player=HUMAN).update(name=NAME_GONE)
