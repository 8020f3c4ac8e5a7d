"""Runs axe-core on a page: the rules of WCAG 2.2 AA that a program can check, and axe's best practices.

axe-core comes with the tools of ``tests/js`` (``make test`` installs them). The page is checked as it is. axe enters it
past the content security policy, as an extension of a reader's browser would.
"""

from collections.abc import Iterable
from typing import Literal

from django.conf import settings
from playwright.sync_api import Page

SOURCE = settings.BASE_DIR / "tests" / "js" / "node_modules" / "axe-core" / "axe.min.js"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# The rules about colours; only these need a second check in another theme.
COLOUR_RULES = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}

# Animations between the themes are finished first: their colours belong to neither. `preload` is off, since axe would
# add a style sheet of its own to the page, which the policy refuses.
RUN = """async ([runOnly, besides]) => {
  for (const animation of document.getAnimations()) animation.finish();
  const rules = Object.fromEntries(besides.map((id) => [id, { enabled: false }]));
  const options = { runOnly, rules, resultTypes: ["violations"], preload: false, iframes: false };
  const { violations } = await axe.run(document, options);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")} ${node.html.slice(0, 200)}`));
}"""


def violations(page: Page, besides: Iterable[str] = ()) -> list[str]:
    """Return axe's findings on the page in both themes, without the rules ``besides``."""
    page.evaluate(SOURCE.read_text())
    wrong = []
    for theme, rules in zip(THEMES, (RULES, COLOUR_RULES), strict=True):
        page.emulate_media(color_scheme=theme)
        wrong += [f"{theme}, {words}" for words in page.evaluate(RUN, [rules, list(besides)])]
    return wrong
