"""A draw names its box by position, and stays when the box goes: one may be shared with another machine."""

from django.db import migrations, models

FORWARDS = """
UPDATE learning_draw AS draw SET position = box.position FROM learning_box box WHERE box.id = draw.box_id
"""
# Draws of boxes that a reset took away went with them before.
BACKWARDS = """
UPDATE learning_draw AS draw SET box_id = box.id
FROM learning_box box WHERE box.machine_id = draw.machine_id AND box.position = draw.position;
DELETE FROM learning_draw WHERE box_id IS NULL;
SET CONSTRAINTS ALL IMMEDIATE
"""


class Migration(migrations.Migration):
    dependencies = [("learning", "0014_box_visits")]

    operations = [
        migrations.AddField(
            model_name="draw",
            name="position",
            field=models.CharField(default="", help_text="That of the box.", max_length=100),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="draw",
            name="box",
            field=models.ForeignKey(
                null=True, on_delete=models.deletion.CASCADE, related_name="drawn", to="learning.box"
            ),
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.RemoveField(model_name="draw", name="box"),
    ]
