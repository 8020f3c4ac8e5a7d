from django.conf import settings
from django.db import migrations


class Migration(migrations.Migration):
    """Ada and ada are one person: the forms say so, and so does the database."""

    dependencies = [("games", "0001_initial"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.RunSQL(
            "CREATE UNIQUE INDEX auth_user_username_any_case ON auth_user (lower(username))",
            "DROP INDEX auth_user_username_any_case",
        ),
    ]
