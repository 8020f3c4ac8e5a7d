"""Where the machines of visitors were made from, so that they are bounded by address."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning", "0026_moved_guests")]

    operations = [
        migrations.AddField(
            model_name="machine",
            name="made_from",
            field=models.CharField(
                blank=True,
                db_default="",
                db_index=True,
                default="",
                editable=False,
                help_text="A keyed hash of the address that it was made from, as long as it is a guest's.",
                max_length=32,
            ),
        ),
    ]
