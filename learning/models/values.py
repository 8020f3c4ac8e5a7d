"""What machines that keep a table of values know."""

from __future__ import annotations

from django.db import models
from django.db.models import Func

from learning.models.machines import Machine


class Value(models.Model):
    """An entry of the table of a machine that keeps values: what an action on a board is worth to it.

    Only what was learnt has a row; everything else is 0. Rows are many, and a move reads those of its own actions.
    """

    # No index of its own: while nothing is known of the table's statistics the planner would rather take that one, and
    # read every entry of the machine. ``value_once`` does both.
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="values", db_index=False)
    key = models.CharField(max_length=700, help_text="Action and pieces, as docs/rules/romgon.md writes them.")
    start = models.FloatField(default=0, help_text="Where its ledger begins; not 0 in a copy.")
    value = models.FloatField()
    n_visits = models.PositiveBigIntegerField(default=0, help_text="How often it was learnt.")

    class Meta:
        constraints = [models.UniqueConstraint(name="value_once", fields=["machine", "key"])]
        # By the board of a key: training asks for all that is stored on one. The machine's number is in the hash, for a
        # planner that has no statistics yet would read all of its entries by an index that begins with it.
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
