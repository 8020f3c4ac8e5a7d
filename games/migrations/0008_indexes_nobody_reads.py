"""Drop six indexes on the players of rooms and seats. No query uses them, and every new room wrote into them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0007_where_rooms_were_opened_from")]

    operations = [
        migrations.AlterField(
            model_name="room",
            name="opponent",
            field=models.SlugField(
                blank=True, db_index=False, help_text="Who was asked for as the opponent.", max_length=40
            ),
        ),
        migrations.AlterField(
            model_name="seat",
            name="player",
            field=models.SlugField(
                db_index=False, default="human", help_text="'human', or which automated player.", max_length=40
            ),
        ),
        migrations.AlterField(
            model_name="seat",
            name="takes_over",
            field=models.SlugField(
                blank=True, db_index=False, help_text="Whose seat a person has taken over.", max_length=40
            ),
        ),
    ]
