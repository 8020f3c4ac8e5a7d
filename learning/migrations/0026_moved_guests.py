"""Which visitors have taken their machines along into an account."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning", "0025_snapshots_left")]

    operations = [
        migrations.CreateModel(
            name="MovedGuest",
            fields=[
                ("guest", models.UUIDField(primary_key=True, serialize=False)),
                ("moved_at", models.DateTimeField(auto_now_add=True, db_index=True)),
            ],
        ),
    ]
