"""``manage.py set_up``: everything between an empty database and a site that can be played on.

One process for all of it, since starting Django four times takes longer than what there is to do on a
second start. Each step leaves alone what is there already.
"""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Migrate, collect the static files, compile the kernels and train the first machines."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        call_command("warm_kernels")
        call_command("pretrain")
