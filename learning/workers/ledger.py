"""Compaction of machines' ledgers, which limits their size (docs/decisions/0096)."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError
from django.utils import timezone

from games.limits.quotas import guest_retention_share
from learning.kinds.registry import kind_of
from learning.models import Machine
from learning.storage.compaction import compaction_point, compaction_point_set, compaction_steps, compactions_due
from learning.workers.jobs import TurnEnd

logger = logging.getLogger("learning.workers.ledger")

MIN_LESSONS_TO_EXAMINE = 300
"""Number of lessons above which a ledger is examined; with fewer lessons it cannot have too many changes."""
EXAMINE_AGAIN_S = 3600
"""Seconds until a machine without new lessons is examined again, since to count its changes takes time."""
RESUME_KEY = "ledgers:after"
"""Cache key of the id after which the next pass examines machines; without an entry, a pass begins anew."""
EXCESS_DIVISOR = 5
"""A ledger may exceed its limit by a day, or by this fraction of its changes (1/5), so that compaction is rare."""


def ledgers_compact(turn: TurnEnd) -> bool:
    """Compact ledgers that exceed their limits, until the turn ends; return whether work is left.

    Transactions are short, so they delay no others. A machine with a row that stays locked is left for a later pass.
    """
    n_steps = 0
    overdue_since = timezone.now() - timedelta(days=_retention_days(of_guest=True) + 1)
    ids, after = compactions_due(overdue_since, MIN_LESSONS_TO_EXAMINE, cache.get(RESUME_KEY, 0))
    # Stored before the work, so that a failure does not repeat the same machines. A later pass finds the rest.
    cache.set(RESUME_KEY, after, EXAMINE_AGAIN_S)
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


def _retention_days(*, of_guest: bool) -> float:
    """Return the days for which a ledger keeps lessons uncompacted; fewer for guests and copies on a crowded site."""
    days: int = settings.KEEP_LEDGER_DAYS
    return days * guest_retention_share() if of_guest else days


def _compact(machine_id: int, turn: TurnEnd) -> int:
    """Compact one machine's ledger as far as it is due, or until the turn ends; return the number of transactions."""
    machine, n_steps = Machine.objects.filter(pk=machine_id).first(), 0
    if machine is None:
        return 0
    examined_key = f"ledger:{machine_id}:{machine.created_at.timestamp()}"
    if not machine.is_folding and cache.get(examined_key) == machine.n_lessons:
        return 0
    ledger, max_changes = kind_of(machine).memory.ledger, settings.KEEP_LEDGER_CHANGES
    of_guest = machine.guest is not None or machine.room_id is not None
    since = timezone.now() - timedelta(days=_retention_days(of_guest=of_guest))
    overdue_since = since - timedelta(days=1)
    while (
        machine.is_folding
        or compaction_point(machine, ledger, overdue_since, max_changes + max_changes // EXCESS_DIVISOR)
        > machine.n_folded
    ):
        if not machine.is_folding:
            if not compaction_point_set(machine_id, compaction_point(machine, ledger, since, max_changes)):
                return n_steps
            machine.refresh_from_db()
        for _ in compaction_steps(machine, ledger):
            n_steps += 1
            if turn.is_reached:
                return n_steps
        machine.refresh_from_db()
        if machine.is_folding:  # another worker is compacting it, or has announced more
            return n_steps
    cache.set(examined_key, machine.n_lessons, EXAMINE_AGAIN_S)
    return n_steps
