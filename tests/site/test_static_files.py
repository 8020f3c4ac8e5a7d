"""Static files of a running site: their names contain a hash of the content, and imports use these names."""

import re
from pathlib import Path

from django.conf import settings
from django.test import override_settings

from menace_site.management.commands.set_up import collect_static_files

STORED = settings.STORAGES | {"staticfiles": {"BACKEND": "menace_site.server.static_files.ModuleStaticFilesStorage"}}


def test_every_import_names_the_stored_module(tmp_path: Path) -> None:
    with override_settings(STORAGES=STORED, STATIC_ROOT=tmp_path):
        collect_static_files()
    scripts = list((tmp_path / "js").glob("*.????????????.js"))
    imported = {
        name
        for script in scripts
        for name in re.findall(r'^(?:import|\}).* from "\./(.+?)";', script.read_text(), re.M)
    }
    assert len(imported) > 20
    assert imported <= {script.name for script in scripts}
