import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import learning.models.sharing
from games.transport.migration_operations import LOCK_TIMEOUT


class Migration(migrations.Migration):
    dependencies = [
        ("learning", "0034_machine_names_folded"),
    ]

    operations = [
        LOCK_TIMEOUT,
        migrations.CreateModel(
            name="SharedLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "secret",
                    models.CharField(
                        default=learning.models.sharing.link_secret, editable=False, max_length=43, unique=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "ended_at",
                    models.DateTimeField(
                        blank=True, editable=False, help_text="When its owner took it back.", null=True
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="machine",
            name="share",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                editable=False,
                help_text="The link that shows it; of a copy, the one by which it was played.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="machines",
                to="learning.sharedlink",
            ),
        ),
    ]
