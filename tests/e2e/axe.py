"""Runs axe-core on a page: the rules of WCAG 2.2 AA that a program can check, and axe's best practices.

axe-core is one of the tools of ``tests/js`` (``make test`` installs them). axe bypasses the content security policy, as
a browser extension does, so that the page is checked unchanged.
"""

from collections.abc import Iterable
from typing import Literal

from django.conf import settings
from playwright.sync_api import Page

AXE_PATH = settings.BASE_DIR / "tests" / "js" / "node_modules" / "axe-core" / "axe.min.js"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# The rules about colours. Only these rules are checked again in the other theme.
COLOUR_RULES = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}

# Animations between the themes are finished first, because their colours belong to neither theme. `preload` is off,
# because axe would add a style sheet to the page, which the policy refuses.
RUN_AXE = """async ([runOnly, ignored]) => {
  for (const animation of document.getAnimations()) animation.finish();
  const rules = Object.fromEntries(ignored.map((id) => [id, { enabled: false }]));
  const options = { runOnly, rules, resultTypes: ["violations"], preload: false, iframes: false };
  const { violations } = await axe.run(document, options);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")} ${node.html.slice(0, 200)}`));
}"""


def violations(page: Page, ignored: Iterable[str] = ()) -> list[str]:
    """Return axe's findings on the page in both themes, without the rules ``ignored``."""
    page.evaluate(AXE_PATH.read_text())
    faults = []
    for theme, rules in zip(THEMES, (RULES, COLOUR_RULES), strict=True):
        page.emulate_media(color_scheme=theme)
        faults += [f"{theme}, {violation}" for violation in page.evaluate(RUN_AXE, [rules, list(ignored)])]
    return faults
