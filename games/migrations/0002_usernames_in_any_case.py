from django.conf import settings
from django.db import migrations


class Migration(migrations.Migration):
    """Make account names unique in any case: Ada and ada are one name, in forms and in the database."""

    dependencies = [("games", "0001_initial"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.RunSQL(
            "CREATE UNIQUE INDEX auth_user_username_any_case ON auth_user (lower(username))",
            "DROP INDEX auth_user_username_any_case",
        ),
    ]
