"""Sphinx: the documents and the reference of the library as a site (``make docs``)."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from beadbox import __version__  # noqa: E402  # the line above adds its path

project, author, version, release = "Beadbox", "The authors of Beadbox", __version__, __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_theme_options = {"description": "Matchbox learning machines", "fixed_sidebar": True, "page_width": "1100px"}
html_show_copyright = False
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "inherited-members": "int,Protocol,ValueError,Exception"}
exclude_patterns = ["_build"]
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\.?/[^)#]+)(#[^)]*)?\)")
"""A link to a path beside or above the document."""


def replace_outside_links(app: object, document: str, source: list[str]) -> None:
    """Replace links to files outside the documents by the paths of the files, because the site has only the documents.

    Raises:
        ValueError: a link leads to a missing file.
    """
    folder = (ROOT / "docs" / document).parent

    def replacement(link: re.Match[str]) -> str:
        path = (folder / link[2]).resolve()
        if not path.exists():
            raise ValueError(f"docs/{document}: a dead link to {link[2]}")
        is_document = path.is_relative_to(ROOT / "docs") and path.suffix in {".md", ".png"}
        return link[0] if is_document else f"{link[1]} (`{path.relative_to(ROOT)}`)"

    source[0] = LINK.sub(replacement, source[0])


def setup(app: object) -> None:
    """Register ``replace_outside_links`` with Sphinx."""
    app.connect("source-read", replace_outside_links)  # type: ignore[attr-defined]
