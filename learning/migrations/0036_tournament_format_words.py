from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning", "0035_shared_links")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="tournament",
                    name="format",
                    field=models.CharField(
                        choices=[
                            ("round-robin", "everyone plays everyone"),
                            ("swiss", "Swiss: players with similar scores meet"),
                        ],
                        max_length=11,
                    ),
                ),
            ]
        )
    ]
