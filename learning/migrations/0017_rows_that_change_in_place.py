"""Indexes that another one begins with go: every draw and every lesson paid for them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0009_rows_that_change_in_place"),
        ("learning", "0016_shared_boxes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="draw",
            name="machine",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="drawn", to="learning.machine"
            ),
        ),
        migrations.AlterField(
            model_name="draw",
            name="seat",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="drawn", to="games.seat"
            ),
        ),
        migrations.AlterField(
            model_name="lesson",
            name="machine",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="lessons",
                to="learning.machine",
            ),
        ),
    ]
