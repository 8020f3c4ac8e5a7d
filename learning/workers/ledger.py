"""Compaction of machines' ledgers, so that none grows for ever (docs/decisions/0096)."""

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
"""Lessons of a ledger above which its changes are counted; with no more, it cannot have too many changes."""
LOOKED_AT_S = 3600
"""Seconds until a machine without new lessons is examined again, because its changes have to be counted."""
AFTER = "ledgers:after"
"""The cache key of the start of the next stretch of machines; if it is lost, the first stretch is next."""
SLACK = 5
"""A ledger is compacted once it exceeds its limit by a day, or by a fifth of its changes, not a little every minute."""


def ledgers_compact(turn: TurnEnd) -> bool:
    """Compact ledgers that are over their limits, until the turn ends; return whether more is left.

    Each machine takes short transactions that delay no other. A machine with a row locked for long is left for the next
    time.
    """
    n_steps = 0
    before = timezone.now() - timedelta(days=_days_kept(of_guest=True) + 1)
    ids, after = compactions_due(before, LOOKED_AT_LESSONS, cache.get(AFTER, 0))
    # Stored before the work: a machine not reached is found in the next round, and a failure does not stop the round.
    cache.set(AFTER, after, LOOKED_AT_S)
    for pk in ids:
        try:
            n_steps += _compact(pk, turn)
        except OperationalError:
            logger.warning("the ledger of machine %s is in use, and is folded later", pk, exc_info=True)
        except Exception:  # one broken ledger must not prevent the compaction of the others
            logger.exception("the ledger of machine %s could not be folded", pk)
        if turn.is_reached:
            return n_steps > 0
    return False


def _days_kept(*, of_guest: bool) -> float:
    """Days for which a ledger keeps single lessons; for guests and copies no longer than their matches."""
    days: int = settings.KEEP_LEDGER_DAYS
    return days * guests_share() if of_guest else days


def _compact(machine_id: int, turn: TurnEnd) -> int:
    """Compact one machine's ledger as far as it is due, or until the turn ends; return the number of steps."""
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
        if machine.is_folding:  # another worker is compacting it, or has announced more
            return n_steps
    cache.set(looked_at, machine.n_lessons, LOOKED_AT_S)
    return n_steps
