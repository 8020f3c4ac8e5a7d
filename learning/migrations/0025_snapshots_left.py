"""A snapshot says how many of the games of training before it were left behind."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning", "0024_machines_of_visitors")]

    operations = [
        migrations.AddField(
            model_name="snapshot",
            name="n_left",
            field=models.PositiveBigIntegerField(
                default=0, help_text="As many of them were left behind by then, as an earlier snapshot had been chosen."
            ),
        ),
    ]
