"""Pages list every module that their script imports, so that browsers fetch all of them at once."""

import re

import pytest
from django.test import Client

from games.templatetags.modules import imported_modules

pytestmark = pytest.mark.django_db


def test_direct_and_indirect_imports_are_listed_once() -> None:
    modules = imported_modules("js/boards.js")
    assert modules[0] == "js/diagram.js"
    assert set(modules) == {"js/diagram.js", "js/beads.js", "js/dom.js"}
    all_modules = imported_modules("js/room.js")
    assert len(all_modules) == len(set(all_modules))
    assert {"js/board.js", "js/matchbox.js", "js/beads.js"} <= set(all_modules)
    assert "js/room.js" not in all_modules


def test_the_page_lists_the_modules_before_its_script(client: Client) -> None:
    page = client.get("/").content.decode()
    head = page.partition("</head>")[0]
    assert len(re.findall(r'<link rel="modulepreload" href="/static/js/\w+(?:\.\w+)?\.js">', head)) == 3
    assert head.index("modulepreload") < head.index('<script type="module"')
