"""A copy of a machine shares its boxes until they differ (docs/decisions/0075-shared-boxes.md)."""

import django.contrib.postgres.fields
from django.db import migrations, models

# A filter by machine, and by position, goes through to the indexes of both halves. ``OFFSET 0`` keeps what a box held
# from being looked for once for each of the two columns, and, where neither is asked for, at all. Rows of its own are
# looked for one by one: as a join they might all be read for each, where the planner knows of none yet.
VIEW = """
CREATE VIEW learning_heldbox AS
SELECT id, machine_id, position, ply, move_number, start, beads, visits FROM learning_box
UNION ALL
SELECT NULL, copy.id, box.position, box.ply, box.move_number, held.beads, held.beads,
    array_fill(0::bigint, ARRAY[cardinality(box.start)])
FROM learning_machine copy
JOIN learning_box box ON box.machine_id = copy.shares_id AND box.id <= copy.shares_to_box
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT change.after FROM learning_change change
        WHERE change.box_id = box.id AND change.lesson_id <= copy.shares_to_lesson
        ORDER BY change.lesson_id DESC, change.id DESC LIMIT 1
    ), box.start) AS beads OFFSET 0
) held
WHERE (SELECT own.id FROM learning_box own WHERE own.machine_id = copy.id AND own.position = box.position) IS NULL
"""
# Before, every machine had rows of its own.
NO_VIEW = """
INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)
SELECT machine_id, position, ply, move_number, start, beads, visits FROM learning_heldbox WHERE id IS NULL;
SET CONSTRAINTS ALL IMMEDIATE;
DROP VIEW learning_heldbox
"""


class Migration(migrations.Migration):
    dependencies = [("learning", "0015_draws_by_position")]

    operations = [
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["box", "lesson"], name="change_box_lesson"),
        ),
        migrations.AlterField(
            model_name="change",
            name="box",
            field=models.ForeignKey(
                db_index=False, on_delete=models.deletion.CASCADE, related_name="changes", to="learning.box"
            ),
        ),
        migrations.AlterField(
            model_name="box",
            name="machine",
            field=models.ForeignKey(
                db_index=False, on_delete=models.deletion.CASCADE, related_name="own_boxes", to="learning.machine"
            ),
        ),
        migrations.AlterField(
            model_name="machine",
            name="preset",
            field=models.SlugField(
                blank=True, db_index=False, help_text="The preset its rule was copied from.", max_length=40
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="shares",
            field=models.ForeignKey(
                blank=True,
                help_text="Whose boxes it has as far as it has none of its own. That machine shares nobody's.",
                null=True,
                on_delete=models.deletion.RESTRICT,
                related_name="sharers",
                to="learning.machine",
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="shares_to_lesson",
            field=models.PositiveBigIntegerField(
                blank=True, help_text="Id of the last lesson of that machine that it shares; 0: none yet.", null=True
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="shares_to_box",
            field=models.PositiveBigIntegerField(
                blank=True, help_text="Id of the last box that there was by then; 0: none yet.", null=True
            ),
        ),
        migrations.AddConstraint(
            model_name="machine",
            constraint=models.CheckConstraint(
                name="machine_shares_as_of",
                condition=models.Q(shares__isnull=True, shares_to_lesson__isnull=True, shares_to_box__isnull=True)
                | models.Q(shares__isnull=False, shares_to_lesson__isnull=False, shares_to_box__isnull=False),
            ),
        ),
        migrations.CreateModel(
            name="HeldBox",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.CharField(max_length=100)),
                ("ply", models.PositiveSmallIntegerField()),
                (
                    "move_number",
                    models.PositiveSmallIntegerField(help_text="The machine's own, 1 for its first move."),
                ),
                (
                    "start",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(),
                        help_text="Beads it was laid out with; differs from the rule in a copy.",
                    ),
                ),
                ("beads", django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField())),
                (
                    "visits",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="How often each slot was played in games learnt from.",
                    ),
                ),
            ],
            options={"db_table": "learning_heldbox", "managed": False},
        ),
        migrations.RunSQL(VIEW, NO_VIEW),
    ]
