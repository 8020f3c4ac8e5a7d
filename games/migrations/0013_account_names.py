import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import games.validators
from games.transport.migration_operations import LOCK_TIMEOUT


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0012_open_rooms_of_an_address"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        LOCK_TIMEOUT,
        migrations.CreateModel(
            name="AccountName",
            fields=[
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="account_name",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        db_index=True, help_text="Equal keys are one name (beadbox.names.name_key).", max_length=500
                    ),
                ),
                ("search", models.CharField(help_text="The key without accents.", max_length=1000)),
                (
                    "is_duplicate",
                    models.BooleanField(
                        default=False,
                        help_text="Whether an earlier account holds the same key.",
                        verbose_name="shares its name",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_duplicate", False)), fields=("key",), name="account_name_once"
                    )
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="apitoken",
                    name="name",
                    field=models.CharField(
                        help_text="What it is for.", max_length=60, validators=[games.validators.name_validate]
                    ),
                )
            ]
        ),
    ]
