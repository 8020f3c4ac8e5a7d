"""How machines stand in the list, and what it sorts by.

Machines that are there already get a standing that nobody has measured: the clerk does, one after the other.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


OPEN = """
    INSERT INTO learning_standing (machine_id, lessons, games, measured, curve)
    SELECT id, n_lessons, n_games, -1, '{}' FROM learning_machine WHERE room_id IS NULL"""


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0009_rows_that_change_in_place"),
        ("learning", "0021_snapshots_measured"),
    ]

    operations = [
        migrations.CreateModel(
            name="Standing",
            fields=[
                (
                    "machine",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="standing",
                        serialize=False,
                        to="learning.machine",
                    ),
                ),
                ("lessons", models.PositiveBigIntegerField(default=0, help_text="The machine's n_lessons.")),
                ("games", models.PositiveBigIntegerField(default=0, help_text="The machine's n_games.")),
                (
                    "measured",
                    models.BigIntegerField(
                        default=-1, help_text="After which lesson its strength was found; -1: never."
                    ),
                ),
                ("win", models.FloatField(blank=True, help_text="Chance to win against random play.", null=True)),
                ("draw", models.FloatField(blank=True, null=True)),
                ("loss", models.FloatField(blank=True, null=True)),
                (
                    "score",
                    models.FloatField(
                        blank=True, help_text="What its strength is sorted by: win + draw / 2.", null=True
                    ),
                ),
                (
                    "curve",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(),
                        blank=True,
                        default=list,
                        help_text="Games and score, games and score, in order of games.",
                        size=None,
                    ),
                ),
            ],
        ),
        migrations.RunSQL(OPEN, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="machine",
            index=models.Index(
                condition=models.Q(("room__isnull", True)), fields=["name", "id"], name="machine_by_name"
            ),
        ),
        migrations.AddIndex(
            model_name="machine",
            index=models.Index(
                condition=models.Q(("room__isnull", True)), fields=["game", "name", "id"], name="machine_by_game"
            ),
        ),
        migrations.AddIndex(
            model_name="machine",
            index=models.Index(
                condition=models.Q(("room__isnull", True)), fields=["side", "name", "id"], name="machine_by_side"
            ),
        ),
        migrations.AddIndex(
            model_name="machine",
            index=models.Index(
                condition=models.Q(("room__isnull", True)), fields=["preset", "name", "id"], name="machine_by_preset"
            ),
        ),
        migrations.AddIndex(
            model_name="standing",
            index=models.Index(
                models.OrderBy(models.F("score"), descending=True, nulls_last=True),
                models.OrderBy(models.F("machine"), descending=True),
                name="standing_score",
            ),
        ),
        migrations.AddIndex(
            model_name="standing",
            index=models.Index(
                models.OrderBy(models.F("games"), descending=True),
                models.OrderBy(models.F("machine"), descending=True),
                name="standing_games",
            ),
        ),
        migrations.AddIndex(
            model_name="standing",
            index=models.Index(
                condition=models.Q(("measured", models.F("lessons")), _negated=True),
                fields=["machine"],
                name="standing_behind",
            ),
        ),
        migrations.AddConstraint(
            model_name="standing",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("draw__isnull", True), ("loss__isnull", True), ("score__isnull", True), ("win__isnull", True)
                    ),
                    models.Q(
                        ("draw__isnull", False),
                        ("loss__isnull", False),
                        ("score__isnull", False),
                        ("win__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="standing_measured_whole",
            ),
        ),
    ]
