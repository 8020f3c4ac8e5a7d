#!/usr/bin/env python
"""Run a management command of the site: ``python manage.py help`` lists them."""

import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    # A checkout that `make run` has served is a local one; a real site has its secret key in the environment.
    if "SECRET_KEY" not in os.environ and (Path(__file__).parent / "var" / "secret_key").exists():
        os.environ.setdefault("BEADBOX_LOCAL", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")
    execute_from_command_line(sys.argv)
