from django.db import migrations

# A copy made for a room used to be seen by whoever had its address, whatever it was a copy of, and stored as private.
# Now it says itself whether it is public: as its original is. Of one whose original is gone nobody knows: it stays
# with its owner and the staff.
COPIES = """
UPDATE learning_machine AS copy SET is_public = TRUE FROM learning_machine AS original
WHERE original.id = copy.copied_from_id AND copy.room_id IS NOT NULL AND original.is_public
"""


class Migration(migrations.Migration):
    dependencies = [
        ("learning", "0009_values_in_tournaments"),
    ]

    operations = [migrations.RunSQL(COPIES, migrations.RunSQL.noop)]
