import django.db.models.deletion
from django.db import migrations, models

WORKER = models.CharField(
    max_length=100,
    blank=True,
    default="",
    db_default="",
    editable=False,
    help_text="Host and process of the worker that has it now.",
)
MOST = "How many values it may learn in this run. Only machines that keep values have such a limit."
LEFT_OUT = "How many more values it met and did not learn, because of that limit."
MEASURED = "How many games each snapshot plays against each level, half of them on either side. 0: none."
RANDOM = "How often it plays a random move. Only machines that keep values have one."
SHARES = models.ForeignKey(
    "learning.machine",
    null=True,
    blank=True,
    on_delete=django.db.models.deletion.RESTRICT,
    related_name="sharers",
    help_text="It has the boxes of that machine wherever it has none of its own.",
)
FIELDS = [
    ("experimentrun", "leased_by", WORKER),
    ("pairing", "leased_by", WORKER),
    ("trainingrun", "leased_by", WORKER),
    ("trainingrun", "most_values", models.PositiveBigIntegerField(null=True, blank=True, help_text=MOST)),
    ("trainingrun", "n_left_out", models.PositiveBigIntegerField(default=0, help_text=LEFT_OUT)),
    ("trainingrun", "n_measured", models.PositiveIntegerField(default=0, help_text=MEASURED)),
    ("machine", "epsilon", models.FloatField(null=True, blank=True, help_text=RANDOM)),
    ("machine", "shares", SHARES),
    ("schedule", "note", models.CharField(max_length=300, blank=True)),
]


class Migration(migrations.Migration):
    dependencies = [("learning", "0037_machine_share_index")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.AlterField(model, name, field) for model, name, field in FIELDS]
        )
    ]
