"""What others wrote: its licences, and the bill of materials."""

import re

import pytest

from tests.licences import NPM_LOCK, VENDORED, is_allowed, npm_licences, refused
from tests.sbom import vendored


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("", False),
        ("UNKNOWN", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0 AND BSD-2-Clause", True),
        ("GNU General Public License (GPL); Artistic License", True),
        ("GNU Affero General Public License v3", False),
    ],
)
def test_one_offer_has_to_be_on_the_list_with_all_its_parts(licence: str, allowed: bool) -> None:
    assert is_allowed(licence) is allowed
    assert (refused({"thing": licence}) == []) is allowed


def test_packages_of_npm_may_be_used() -> None:
    licences = npm_licences()
    assert {"uplot", "axe-core", "typescript"} <= set(licences)
    assert refused(licences) == []


def test_vendored_scripts_stand_in_the_bill_with_the_hash_of_the_lock() -> None:
    (uplot,) = vendored()
    assert (VENDORED / f"uplot-{uplot['version']}" / "LICENSE").exists()
    integrity = next(one["value"] for one in uplot["properties"] if one["name"] == "npm:integrity")
    assert re.search(re.escape(integrity), NPM_LOCK.read_text())
