"""Of a ledger that is folded up: where it is kept from, and for how many lessons one stands (decision 0096)."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Until now a reset left its trace in the numbers alone: those of the lessons before it are missing.
FORGOTTEN = """
    UPDATE learning_machine machine SET n_forgotten = found.n FROM (
        SELECT id, coalesce((SELECT min(number) - 1 FROM learning_lesson WHERE machine_id = machine.id), n_lessons) AS n
        FROM learning_machine machine
    ) AS found WHERE machine.id = found.id AND found.n > 0"""
TAUGHT = """
    UPDATE learning_trainingrun run SET last_lesson = found.last FROM (
        SELECT run_id, machine_id, max(number) AS last FROM learning_lesson GROUP BY run_id, machine_id
    ) AS found WHERE found.run_id = run.id AND found.machine_id = run.machine_id"""
# A folded lesson is as one of a run that is no more: it has neither match nor run.
UNFOLDED = "UPDATE learning_lesson SET kind = 'training' WHERE kind = 'folded'"


class Migration(migrations.Migration):
    dependencies = [("learning", "0028_jobs_leased_by")]

    operations = [
        migrations.RemoveConstraint(
            model_name="lesson",
            name="lesson_has_one_cause",
        ),
        migrations.AddField(
            model_name="lesson",
            name="stands_for",
            field=models.PositiveBigIntegerField(
                db_default=1,
                default=1,
                help_text="How many lessons it stands for, this one and those after it: 1, or folded.",
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="folded_at",
            field=models.DateTimeField(blank=True, editable=False, help_text="When the last of these was.", null=True),
        ),
        migrations.AddField(
            model_name="machine",
            name="is_folding",
            field=models.BooleanField(
                db_default=False, default=False, editable=False, help_text="Whether some of them are still to be."
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="n_folded",
            field=models.PositiveBigIntegerField(
                db_default=0, default=0, help_text="Its history is kept after this lesson; earlier ones are folded up."
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="n_forgotten",
            field=models.PositiveBigIntegerField(
                db_default=0,
                default=0,
                help_text="Its ledger begins after this number: that of its last reset, 0 without one.",
            ),
        ),
        migrations.AddField(
            model_name="trainingrun",
            name="last_lesson",
            field=models.PositiveBigIntegerField(
                db_default=0,
                default=0,
                help_text="The number of the last lesson that it gave its machine; 0: none yet.",
            ),
        ),
        migrations.AlterField(
            model_name="lesson",
            name="kind",
            field=models.CharField(
                choices=[
                    ("match", "a match ended"),
                    ("refill", "an empty box was filled again during a match"),
                    ("training", "a chunk of a training run"),
                    ("choice", "it went back to what it knew earlier"),
                    ("folded", "what its earlier lessons came to together"),
                ],
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="lesson",
            name="number",
            field=models.PositiveBigIntegerField(help_text="1 for the machine's first lesson."),
        ),
        migrations.AlterField(
            model_name="valuechange",
            name="entry",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="changes", to="learning.value"
            ),
        ),
        migrations.AddIndex(
            model_name="valuechange",
            index=models.Index(fields=["entry", "lesson"], name="valuechange_entry_lesson"),
        ),
        migrations.RunSQL([FORGOTTEN, TAUGHT], UNFOLDED),
        migrations.AddConstraint(
            model_name="lesson",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "training"), ("match__isnull", True)),
                    models.Q(("kind__in", ["choice", "folded"]), ("match__isnull", True), ("run__isnull", True)),
                    models.Q(("kind__in", ["match", "refill"]), ("match__isnull", False), ("run__isnull", True)),
                    _connector="OR",
                ),
                name="lesson_has_one_cause",
            ),
        ),
        migrations.AddConstraint(
            model_name="lesson",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("stands_for", 1), models.Q(("kind", "folded"), ("stands_for__gt", 1)), _connector="OR"
                ),
                name="lesson_stands_for",
            ),
        ),
        migrations.AddConstraint(
            model_name="machine",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("folded_at__isnull", True), ("n_folded", 0)),
                    models.Q(
                        ("folded_at__isnull", False),
                        ("n_folded__gt", models.F("n_forgotten")),
                        ("n_folded__lte", models.F("n_lessons")),
                    ),
                    _connector="OR",
                ),
                name="machine_folded",
            ),
        ),
    ]
