"""The bill of materials of the site: locked packages by cyclonedx-bom, vendored JavaScript, fonts and images.

Licences and dependencies are those of the installed packages, which pip has verified by the locks' hashes. ``make
sbom`` pipes cyclonedx-bom's output through this module.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import beadbox
from tests.licences import NPM_LOCK, ROOT, VENDOR_FOLDER, python_licences

FONTS = ROOT / "beadbox" / "printing" / "fonts"


def vendored_components() -> list[dict[str, Any]]:
    """Return the components of ``static/vendor`` with their origin and the hash in npm's lock."""
    packages = json.loads(NPM_LOCK.read_text())["packages"]
    components = []
    for folder in sorted(VENDOR_FOLDER.iterdir()):
        name, _, version = folder.name.rpartition("-")
        locked = packages[f"node_modules/{name}"]
        assert locked["version"] == version, f"{folder.name} is not the version of the lock: make vendor"
        purl = f"pkg:npm/{name}@{version}"
        components.append(
            {
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": version,
                "purl": purl,
                "licenses": [{"license": {"id": locked["license"]}}],
                "properties": [
                    {"name": "beadbox:path", "value": f"static/vendor/{folder.name}"},
                    {"name": "npm:integrity", "value": locked["integrity"]},
                ],
            }
        )
    return components


def font_components() -> list[dict[str, Any]]:
    """Return the fonts of printed sheets, in the version that their README names."""
    (version,) = re.findall(r"Noto Sans (\d+\.\d+)", (FONTS / "README.md").read_text())
    purl = f"pkg:generic/noto-sans@{version}"
    return [
        {
            "type": "library",
            "bom-ref": purl,
            "name": "noto-sans",
            "version": version,
            "purl": purl,
            "licenses": [{"license": {"id": "OFL-1.1"}}],
            "properties": [{"name": "beadbox:path", "value": str(FONTS.relative_to(ROOT))}],
        }
    ]


def image_components() -> list[dict[str, Any]]:
    """Return the images that ``docker-compose.yml`` starts from, by their exact versions."""
    text = (ROOT / "docker-compose.yml").read_text()
    image_names = set(
        re.findall(r"^\s*(?:image:(?: &\w+)?|FROM) (\S+:[\w.-]+)$", text, re.MULTILINE)
    )  # ours has a variable
    components = []
    for name, _, version in sorted(image.partition(":") for image in image_names):
        purl = f"pkg:docker/{name}@{version}"
        components.append({"type": "container", "bom-ref": purl, "name": name, "version": version, "purl": purl})
    return components


def installed_bill() -> dict[str, Any]:
    """Run cyclonedx-bom on the installed packages: their licences and dependencies."""
    arguments = ("environment", "--output-reproducible", "--pyproject", "pyproject.toml", sys.executable)
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", *arguments]
    bill: dict[str, Any] = json.loads(subprocess.run(command, check=True, cwd=ROOT, capture_output=True).stdout)
    return bill


def direct_dependencies() -> set[str]:
    """Return the names of the packages on which the site depends directly: its group in ``pyproject.toml``."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["site"]
    return {canonicalize_name(Requirement(one).name) for one in group}


def complete_bill(
    bill: dict[str, Any], installed_bill: dict[str, Any], licences: dict[str, str], direct: set[str]
) -> None:
    """Add licences and dependencies of the installed packages to the bill of a lock, which lacks both.

    If cyclonedx-bom finds no licence, ``licences`` supplies it by the name of the package. The site itself needs the
    packages with the names in ``direct``.
    """
    names = {canonicalize_name(name): [{"license": {"name": licence}}] for name, licence in licences.items()}
    installed_components = {one["purl"]: one for one in installed_bill["components"]}
    purls = {one["bom-ref"]: one["purl"] for one in installed_bill["components"]}
    dependencies_of = {
        purls.get(one["ref"], one["ref"]): one.get("dependsOn", []) for one in installed_bill["dependencies"]
    }
    dependencies_of["root-component"] = [
        one["bom-ref"] for one in installed_bill["components"] if canonicalize_name(one["name"]) in direct
    ]
    for component in bill["components"]:
        component["bom-ref"] = component["purl"]  # before, a line number
        found = installed_components.get(component["purl"], {}).get("licenses") or names.get(
            canonicalize_name(component["name"])
        )
        if found:
            component["licenses"] = found
    locked = {component["purl"] for component in bill["components"]}
    bill["dependencies"] = [
        {"ref": ref, "dependsOn": sorted(locked & {purls[dependency] for dependency in dependencies_of.get(ref, [])})}
        for ref in (*sorted(locked), "root-component")
    ]


if __name__ == "__main__":
    bill = json.load(sys.stdin)
    bill["metadata"]["component"]["version"] = beadbox.__version__
    complete_bill(bill, installed_bill(), python_licences(), direct_dependencies())
    bill["components"] += vendored_components() + font_components() + image_components()
    json.dump(bill, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
