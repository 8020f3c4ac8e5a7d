"""The bill of materials of the site: what cyclonedx-bom reads from the locks, and the vendored JavaScript.

``make sbom`` pipes the former through this module.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.licences import NPM_LOCK, VENDORED


def vendored() -> list[dict[str, Any]]:
    """The components of ``static/vendor``, each with where it came from and the hash that npm's lock has of it."""
    packages = json.loads(NPM_LOCK.read_text())["packages"]
    components = []
    for folder in sorted(VENDORED.iterdir()):
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


if __name__ == "__main__":
    bill = json.load(sys.stdin)
    bill["components"] += vendored()
    json.dump(bill, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
