"""Third-party software: the licences, and the bill of materials."""

from typing import Any

import pytest

from tests.licences import (
    LOCKED_PACKAGE,
    NPM_LOCK,
    ROOT,
    VENDOR_FOLDER,
    is_allowed,
    missing_packages,
    npm_licences,
    python_licences,
    refused_packages,
)
from tests.sbom import FONTS, complete_bill, direct_dependencies, font_components, image_components, vendored_components


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
def test_licence_is_allowed_if_one_alternative_is_listed(licence: str, allowed: bool) -> None:
    assert is_allowed(licence) is allowed
    assert (refused_packages({"thing": licence}) == []) is allowed


def test_locked_package_that_is_not_installed_is_reported() -> None:
    lock = "Thing.One==1.0 \\\n    --hash=sha256:0\n"
    lock += "thing-two==2 ; sys_platform == 'nowhere' \\\nthree==3 ; python_version > '3' \\\n"
    assert missing_packages(lock, []) == ["thing-one", "three"]
    assert missing_packages(lock, ["thing_one", "Three"]) == []


def test_packages_of_the_licence_tool_are_read_too() -> None:
    assert {"pip-licenses", "prettytable", "wcwidth"} <= set(python_licences())


def test_npm_packages_have_allowed_licences() -> None:
    licences = npm_licences()
    assert {"uplot", "axe-core", "typescript"} <= set(licences)
    assert refused_packages(licences) == []


def test_sbom_has_licences_and_dependencies() -> None:
    def component(ref: str, name: str, **more: Any) -> dict[str, Any]:
        return {"bom-ref": ref, "name": name, "purl": f"pkg:pypi/{name}@1", **more}

    licences = [{"license": {"id": "MIT"}}]
    bill = {"components": [component("requirements-L1", "a"), component("requirements-L9", "b")]}
    installed_bill = {
        "components": [component(f"{name}==1", name, licenses=licences) for name in ("a", "b", "a-tool")],
        "dependencies": [
            {"ref": "root-component", "dependsOn": ["b==1"]},
            {"ref": "a==1", "dependsOn": ["b==1"]},
            {"ref": "a-tool==1"},
        ],
    }
    bill["components"].append(component("requirements-L12", "c"))
    complete_bill(bill, installed_bill, {"c": "BSD License", "a": "another"}, {"a", "a-tool"})
    assert [one["licenses"] for one in bill["components"]] == [
        licences,
        licences,
        [{"license": {"name": "BSD License"}}],
    ]
    assert bill["dependencies"] == [
        {"ref": "pkg:pypi/a@1", "dependsOn": ["pkg:pypi/b@1"]},
        {"ref": "pkg:pypi/b@1", "dependsOn": []},
        {"ref": "pkg:pypi/c@1", "dependsOn": []},
        {"ref": "root-component", "dependsOn": ["pkg:pypi/a@1"]},
    ]


def test_direct_requirements_are_in_the_lock() -> None:
    names = {name for name, _ in LOCKED_PACKAGE.findall((ROOT / "requirements.txt").read_text())}
    assert {"django", "numba", "numpy", "celery"} <= direct_dependencies() <= names


def test_sbom_lists_images_of_the_compose_file() -> None:
    assert [one["purl"].partition("@")[0] for one in image_components()] == [
        f"pkg:docker/{name}" for name in ("caddy", "postgres", "python", "valkey/valkey")
    ]
    text = (ROOT / "docker-compose.yml").read_text()
    assert all(f"{one['name']}:{one['version']}" in text for one in image_components())


def test_vendored_scripts_are_listed_with_their_locked_hash() -> None:
    for one in vendored_components():
        assert (VENDOR_FOLDER / f"{one['name']}-{one['version']}" / "LICENSE").exists()
        integrity = next(each["value"] for each in one["properties"] if each["name"] == "npm:integrity")
        assert integrity in NPM_LOCK.read_text()
    assert {one["name"] for one in vendored_components()} == {"lit-html", "uplot"}


def test_fonts_of_printed_sheets_are_listed_with_their_licence() -> None:
    (noto,) = font_components()
    assert (noto["version"], noto["licenses"]) == ("2.004", [{"license": {"id": "OFL-1.1"}}])
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FONTS / "LICENSE").read_text()
    assert sum(file.stat().st_size for file in FONTS.iterdir()) <= 300_000
