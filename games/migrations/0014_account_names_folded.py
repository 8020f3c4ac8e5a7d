"""Fold the names of all accounts, and print the accounts that have one name in different spellings.

``manage.py names`` prints these accounts again.
"""

from django.conf import settings
from django.db import migrations

from games.accounts.account_names import account_names_fill, account_names_shared


def fold(apps, schema_editor):
    names = apps.get_model("games", "AccountName")
    account_names_fill(apps.get_model(settings.AUTH_USER_MODEL), names)
    for sentence in account_names_shared(names):
        print(sentence)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("games", "0013_account_names"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [migrations.RunPython(fold, migrations.RunPython.noop)]
