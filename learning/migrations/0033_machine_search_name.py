from django.db import migrations, models

import games.validators
from games.transport.migration_operations import LOCK_TIMEOUT


class Migration(migrations.Migration):
    dependencies = [("learning", "0032_runs_unfinished")]

    operations = [
        LOCK_TIMEOUT,
        migrations.AddField(
            model_name="machine",
            name="search_name",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                help_text="The name as it is searched (beadbox.names).",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name=model,
                    name="name",
                    field=models.CharField(max_length=80, validators=[games.validators.name_validate]),
                )
                for model in ("machine", "tournament")
            ]
        ),
    ]
