"""Machines that belong to a visitor's browser, and which one its owner teaches."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0009_rows_that_change_in_place"),
        ("learning", "0023_thoughts_depth"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="machine",
            name="guest",
            field=models.UUIDField(
                blank=True,
                db_index=True,
                editable=False,
                help_text="The guest whose browser it belongs to; nobody else ever sees it.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="machine",
            name="is_pupil",
            field=models.BooleanField(
                default=False, help_text="The one that its owner teaches with one click, of its game and side."
            ),
        ),
        migrations.AddConstraint(
            model_name="machine",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("guest__isnull", True), models.Q(("is_public", False), ("owner__isnull", True)), _connector="OR"
                ),
                name="machine_of_a_guest",
            ),
        ),
        migrations.AddConstraint(
            model_name="machine",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_pupil", True), ("owner__isnull", False)),
                fields=("owner", "game", "side"),
                name="machine_pupil_of_account",
            ),
        ),
        migrations.AddConstraint(
            model_name="machine",
            constraint=models.UniqueConstraint(
                condition=models.Q(("guest__isnull", False), ("is_pupil", True)),
                fields=("guest", "game", "side"),
                name="machine_pupil_of_guest",
            ),
        ),
    ]
