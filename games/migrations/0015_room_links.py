import django.contrib.postgres.fields
from django.db import migrations, models

from games.transport.migration_operations import LOCK_TIMEOUT


class Migration(migrations.Migration):
    dependencies = [("games", "0014_account_names_folded")]

    operations = [
        LOCK_TIMEOUT,
        migrations.AddField(
            model_name="room",
            name="links",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(),
                blank=True,
                db_default=[],
                default=list,
                editable=False,
                help_text="Ids of the secret links that the person who opened it had opened.",
                size=None,
            ),
        ),
    ]
