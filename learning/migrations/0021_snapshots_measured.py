"""Snapshots are places in the ledger, measured, and one of them plays (docs/decisions/0085-what-was-measured-plays.md).

Those of before were lists of weights of their own, which nothing has read yet: they are not kept. The ledger has what a
machine knew before and after the lesson of each.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def choices_as_training(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """On the way back: what was put back stands in the ledger as a lesson of a training that is gone."""
    apps.get_model("learning", "Lesson").objects.filter(kind="choice").update(kind="training")


class Migration(migrations.Migration):
    dependencies = [("learning", "0020_values_by_board")]

    operations = [
        migrations.DeleteModel(name="Snapshot"),
        migrations.AddField(
            model_name="trainingrun",
            name="n_measured",
            field=models.PositiveIntegerField(
                default=0, help_text="Games of each snapshot against each level, half of them on either side; 0: none."
            ),
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("games_done", models.PositiveBigIntegerField(help_text="Of the run; 0: as it was before.")),
                ("n_trained", models.PositiveBigIntegerField(help_text="Games of all its trainings by then.")),
                ("n_lessons", models.PositiveBigIntegerField(help_text="The number of its last lesson by then.")),
                ("epsilon", models.FloatField(blank=True, help_text="How often it tried anything then.", null=True)),
                (
                    "plays_since",
                    models.PositiveBigIntegerField(
                        blank=True,
                        help_text="Of the one that was chosen last: the number of its machine's lesson then.",
                        null=True,
                    ),
                ),
                (
                    "is_by_hand",
                    models.BooleanField(default=False, help_text="Whether somebody chose it, and not its points."),
                ),
                (
                    "machine",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="snapshots",
                        to="learning.machine",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="learning.trainingrun"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("run", "games_done"), name="snapshot_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("plays_since__isnull", False)),
                        fields=("machine",),
                        name="snapshot_plays_alone",
                    ),
                ],
                "indexes": [models.Index(fields=["machine", "id"], name="snapshot_machine")],
            },
        ),
        migrations.CreateModel(
            name="Measurement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.SlugField(help_text="The slug of a fixed opponent.", max_length=40)),
                ("openings", models.PositiveIntegerField(help_text="The seed of the set of openings.")),
                ("seed", models.BigIntegerField(help_text="Of the games.")),
                ("n_wins", models.PositiveIntegerField(default=0)),
                ("n_draws", models.PositiveIntegerField(default=0)),
                ("n_losses", models.PositiveIntegerField(default=0)),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="learning.snapshot",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("snapshot", "level", "openings"), name="measurement_once"),
                ],
            },
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
                ],
                max_length=8,
            ),
        ),
        migrations.RemoveConstraint(model_name="lesson", name="lesson_has_one_cause"),
        migrations.AddConstraint(
            model_name="lesson",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "training"), ("match__isnull", True)),
                    models.Q(("kind", "choice"), ("match__isnull", True), ("run__isnull", True)),
                    models.Q(("kind__in", ["match", "refill"]), ("match__isnull", False), ("run__isnull", True)),
                    _connector="OR",
                ),
                name="lesson_has_one_cause",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, choices_as_training),
    ]
