"""The memory of the kind, with rows of its own."""

from __future__ import annotations

from django.db.models import Sum

from learning.kinds.memory import Audit, KindMemory
from learning.storage.compaction import Ledger
from tests.learning.kinds.win_counter.learner import WinCounter
from tests.learning.kinds.win_counter.models import WinCount, WinCountChange


class WinCounterMemory(KindMemory):
    ledger = Ledger(WinCountChange, "count_id", summed_columns=("deltas",))

    def fields_new(self, rule):
        return {"epsilon": 0.0}

    def copy(self, original, copy):
        rows = original.win_counts.order_by("key")
        WinCount.objects.bulk_create(WinCount(machine=copy, key=row.key, start=row.held, held=row.held) for row in rows)

    def clear_rows(self, machine):
        WinCountChange.objects.filter(count__machine=machine).delete()
        machine.win_counts.all().delete()

    def load(self, machine, most=None):
        counts = {row.key: tuple(row.held) for row in machine.win_counts.all()}
        return WinCounter(machine.game_rules, machine.rule, counts)

    def store(self, machine, memory, lesson_id):
        rows = {row.key: row for row in machine.win_counts.filter(key__in=memory.new_counts)}
        for key, deltas in sorted(memory.new_counts.items()):
            row = rows.get(key) or WinCount(machine=machine, key=key, start=[0, 0], held=[0, 0])
            row.held = [held + delta for held, delta in zip(row.held, deltas, strict=True)]
            row.save()
            WinCountChange.objects.create(lesson_id=lesson_id, count=row, deltas=deltas, after=row.held)
        memory.new_counts.clear()
        return ()

    def audit(self):
        sums = {"games": Sum("changes__deltas__0", default=0), "wins": Sum("changes__deltas__1", default=0)}
        rows = WinCount.objects.annotate(**sums)
        wrong_ids = [row.pk for row in rows if [row.start[0] + row.games, row.start[1] + row.wins] != row.held]
        errors = [f"Counts of wins that do not add up, by id: {wrong_ids}"] if wrong_ids else []
        return Audit(f"{WinCount.objects.count():,} counts of wins", errors)


def counts_at(machine_id, n_lessons):
    """Return the counts of a machine after its first ``n_lessons`` lessons."""
    counts = {row.key: row.start for row in WinCount.objects.filter(machine=machine_id)}
    changes = WinCountChange.objects.filter(count__machine=machine_id, lesson__number__lte=n_lessons)
    latest_counts = dict(changes.order_by("lesson__number", "pk").values_list("count__key", "after"))
    return {key: tuple(held) for key, held in (counts | latest_counts).items() if held[0]}


MEMORY = WinCounterMemory()
