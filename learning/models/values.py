"""Action values of machines with a Q-table."""

from __future__ import annotations

from django.db import models
from django.db.models import Func

from learning.models.machines import Machine


class Value(models.Model):
    """An entry of a machine's Q-table: the value of an action on a board.

    Only learnt entries have a row; every other value is 0. A machine may have very many rows. To choose a move, it
    reads only the rows of its legal actions.
    """

    # No index on the machine alone: ``value_once`` serves these queries, too. Without statistics of the table, the
    # planner would prefer the index on the machine, and read all its entries.
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="values", db_index=False)
    key = models.CharField(max_length=700, help_text="Action and pieces, in the notation of docs/rules/romgon.md.")
    start = models.FloatField(default=0, help_text="The value at the beginning of the ledger; not 0 in a copy.")
    value = models.FloatField()
    n_visits = models.PositiveBigIntegerField(default=0, help_text="Number of updates of the value.")

    class Meta:
        constraints = [models.UniqueConstraint(name="value_once", fields=["machine", "key"])]
        # By the board of a key, because training reads all entries of a board. The machine's id is inside the hash:
        # without statistics, the planner would use an index that begins with the id to read all of a machine's entries.
        indexes = [
            models.Index(
                Func(
                    Func("key", models.Value("#"), models.Value(2), function="split_part"),
                    "machine_id",
                    function="hashtextextended",
                ),
                name="value_board",
            )
        ]

    def __str__(self) -> str:
        return self.key
