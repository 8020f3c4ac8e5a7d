"""What machines that learn a value thought of their moves in live matches."""

import django.contrib.postgres.fields
import django.db.models.deletion
import learning.models.checks
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0009_rows_that_change_in_place"),
        ("learning", "0018_weights"),
    ]

    operations = [
        migrations.CreateModel(
            name="Thought",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ply", models.PositiveSmallIntegerField()),
                ("n_lessons", models.PositiveBigIntegerField(help_text="It knew what it knew after so many.")),
                (
                    "chosen",
                    models.PositiveSmallIntegerField(
                        help_text="The move played: its place among the legal ones, 0 first."
                    ),
                ),
                (
                    "near",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(),
                        help_text="Of every legal move, in canonical order: the board after it.",
                        size=None,
                    ),
                ),
                (
                    "deep",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True),
                        help_text="The same at full depth, as far as the search had to know it.",
                        size=None,
                    ),
                ),
                (
                    "machine",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="thoughts", to="learning.machine"
                    ),
                ),
                (
                    "seat",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="thoughts",
                        to="games.seat",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("seat", "ply"), name="thought_once"),
                    models.CheckConstraint(
                        condition=learning.models.checks.SameLength("near", "deep"), name="thought_aligned"
                    ),
                ],
            },
        ),
    ]
