"""Machines that learn a value of positions: what each knew after every lesson, and its snapshots."""

import django.db.models.deletion
from django.core.management.base import CommandError
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import learning.models.weights


def nothing_in_the_way(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Refuse the way back while there are such machines, which would be left without what they know."""
    machines = apps.get_model("learning", "Machine").objects.filter(rule_json__kind="value-learner")
    names = list(machines.values_list("name", flat=True))
    if names:
        raise CommandError(
            f"Before this migration no machine learnt a value of positions, and {len(names)} do: "
            f"{', '.join(names[:5])}{', …' if names[5:] else ''}. Delete them first, or stay at learning 0018.",
            returncode=2,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("learning", "0017_rows_that_change_in_place"),
    ]

    operations = [
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("n_learnt", models.PositiveBigIntegerField()),
                ("weights", models.BinaryField(help_text="float64, little-endian, in the order of its features.")),
                (
                    "lesson",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="snapshots", to="learning.lesson"
                    ),
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("machine", "n_learnt"), name="snapshot_once"),
                    models.CheckConstraint(
                        condition=learning.models.weights.WholeFloats("weights"), name="snapshot_whole"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Weights",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "n_learnt",
                    models.PositiveBigIntegerField(help_text="From how many games; one against itself counts once."),
                ),
                ("weights", models.BinaryField(help_text="float64, little-endian, in the order of its features.")),
                (
                    "average",
                    models.BinaryField(
                        help_text="Their mean over the last games, the same way; 0 where its rule has none."
                    ),
                ),
                (
                    "lesson",
                    models.OneToOneField(
                        blank=True,
                        help_text="None: it began so.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="weights",
                        to="learning.lesson",
                    ),
                ),
                (
                    "machine",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="weights",
                        to="learning.machine",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "weights",
                "indexes": [models.Index(fields=["machine", "-id"], name="weights_machine_last")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("lesson__isnull", True)), fields=("machine",), name="weights_begin_once"
                    ),
                    models.CheckConstraint(
                        condition=learning.models.weights.WholeFloats("weights"), name="weights_whole"
                    ),
                    models.CheckConstraint(
                        condition=learning.models.weights.SameOctets("weights", "average"), name="weights_aligned"
                    ),
                ],
            },
        ),
        migrations.RunPython(migrations.RunPython.noop, nothing_in_the_way),
    ]
