"""The ledgers of machines are folded up behind a place, so that none grows for ever (docs/decisions/0096)."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError
from django.utils import timezone

from games.limits.quotas import guests_share
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.storage.compaction import compaction_announce, compaction_place, compaction_steps, compactions_due
from learning.workers.jobs import TurnEnd

logger = logging.getLogger("learning.workers.ledger")

LOOKED_AT_LESSONS = 300
"""A machine with no more lessons than these has not too many changes."""
LOOKED_AT_S = 3600
"""One that has learnt nothing since it was looked at is looked at again after this long: its changes are counted."""
AFTER = "ledgers:after"
"""Under this name is kept where the next stretch of machines begins; if that is lost, it is the first again."""
SLACK = 5
"""Folded is what is older by a day, or more by a fifth, than what is kept: not a little of it every minute."""


def ledgers_compact(turn: TurnEnd) -> bool:
    """Fold up what lies too far behind of any machine's ledger, until the turn ends; whether there is more to fold.

    Each machine in short transactions, for which nobody waits. One whose row is taken for long is left for next time.
    """
    n_steps = 0
    before = timezone.now() - timedelta(days=_days_kept(of_guest=True) + 1)
    ids, after = compactions_due(before, LOOKED_AT_LESSONS, cache.get(AFTER, 0))
    # Whatever becomes of these: who is not reached is found the next time round, and none keeps the others waiting.
    cache.set(AFTER, after, LOOKED_AT_S)
    for pk in ids:
        try:
            n_steps += _fold(pk, turn)
        except OperationalError:
            logger.warning("the ledger of machine %s is in use, and is folded later", pk, exc_info=True)
        except Exception:  # one broken ledger must not keep the others from being folded
            logger.exception("the ledger of machine %s could not be folded", pk)
        if turn.is_reached:
            return n_steps > 0
    return False


def _days_kept(*, of_guest: bool) -> float:
    """For how many days a ledger is kept lesson by lesson: one of a guest, or of a copy, no longer than its matches."""
    days: int = settings.KEEP_LEDGER_DAYS
    return days * guests_share() if of_guest else days


def _fold(machine_id: int, turn: TurnEnd) -> int:
    """Fold up one machine's ledger as far as it should be, or until the turn ends; in how many steps."""
    machine, n_steps = Machine.objects.filter(pk=machine_id).first(), 0
    if machine is None:
        return 0
    looked_at = f"ledger:{machine_id}:{machine.created_at.timestamp()}"
    if not machine.is_folding and cache.get(looked_at) == machine.n_lessons:
        return 0
    ledger, most = kind_of(machine).memory.ledger, settings.KEEP_LEDGER_CHANGES
    of_guest = machine.guest is not None or machine.room_id is not None
    since = timezone.now() - timedelta(days=_days_kept(of_guest=of_guest))
    late = since - timedelta(days=1)
    while machine.is_folding or compaction_place(machine, ledger, late, most + most // SLACK) > machine.n_folded:
        if not machine.is_folding:
            if not compaction_announce(machine_id, compaction_place(machine, ledger, since, most)):
                return n_steps
            machine.refresh_from_db()
        for _ in compaction_steps(machine, ledger):
            n_steps += 1
            if turn.is_reached:
                return n_steps
        machine.refresh_from_db()
        if machine.is_folding:  # somebody else is at it, or has announced more
            return n_steps
    cache.set(looked_at, machine.n_lessons, LOOKED_AT_S)
    return n_steps
