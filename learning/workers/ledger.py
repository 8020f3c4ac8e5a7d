"""The ledgers of machines are folded up behind a place, so that none grows for ever (docs/decisions/0096)."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db import OperationalError
from django.utils import timezone

from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.storage.folding import fold_announce, fold_place, fold_steps, folds_due
from learning.workers.jobs import TurnEnd

logger = logging.getLogger(__name__)

LOOKED_AT_LESSONS = 300
"""A machine with no more lessons than these has not too many changes."""
SLACK = 5
"""Folded is what is older by a day, or more by a fifth, than what is kept: not a little of it every minute."""


def ledgers_fold(turn: TurnEnd) -> bool:
    """Fold up what lies too far behind of any machine's ledger, until the turn ends; whether some may be left.

    Each machine in short transactions, for which nobody waits. One whose row is taken for long is left for next time.
    """
    before = timezone.now() - timedelta(days=settings.KEEP_LEDGER_DAYS + 1)
    for pk in folds_due(before, LOOKED_AT_LESSONS):
        try:
            _fold(pk, turn)
        except OperationalError:
            logger.warning("the ledger of machine %s is in use, and is folded later", pk, exc_info=True)
        except Exception:  # one broken ledger must not keep the others from being folded
            logger.exception("the ledger of machine %s could not be folded", pk)
        if turn.is_reached:
            return True
    return False


def _fold(machine_id: int, turn: TurnEnd) -> None:
    """Fold up one machine's ledger as far as it should be, or until the turn ends."""
    machine = Machine.objects.filter(pk=machine_id).first()
    if machine is None:
        return
    ledger, most = kind_of(machine).ledger, settings.KEEP_LEDGER_CHANGES
    since = timezone.now() - timedelta(days=settings.KEEP_LEDGER_DAYS)
    is_due = machine.is_folding or (
        fold_place(machine, ledger, since - timedelta(days=1), most + most // SLACK) > machine.n_folded
    )
    while is_due:
        if not machine.is_folding:
            wanted = fold_place(machine, ledger, since, most)
            if wanted <= machine.n_folded or not fold_announce(machine_id, wanted):
                return
            machine.refresh_from_db()
        for _ in fold_steps(machine, ledger):
            if turn.is_reached:
                return
        machine.refresh_from_db()
        is_due = not machine.is_folding
