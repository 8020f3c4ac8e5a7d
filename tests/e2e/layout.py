"""Checks of a page's layout at any width, font and text size."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass(frozen=True)
class Text:
    """How text is rendered: a font of ``tests/data/fonts``, and the reader's font size in pixels."""

    font: str
    size: int = 16


NARROW = Text("Carlito")  # the default of fonts.conf
WIDE = Text("Bitstream Vera Sans")
LARGE = Text("Bitstream Vera Sans", 32)  # twice as large (WCAG 1.4.4)

# In the page: text that leaves its box or is cut off by it, text on text, and scrolling boxes without keyboard access.
# Pictures have their own measure. Layers above the page (the sheet, a dialogue, a peek) are compared with themselves
# alone. Content scrolled out of its box covers nothing.
BROKEN = """() => {
  const wrong = [];
  const tag = (one) => one.outerHTML.replace(/\\s+/g, " ").slice(0, 90);
  const up = (one) => (one && one !== document.documentElement ? [one, ...up(one.parentElement)] : []);
  const scrolls = (one) => /auto|scroll/.test(getComputedStyle(one).overflowX);
  const isAbove = (one) => one.matches("dialog, .peek") || getComputedStyle(one).position === "fixed";
  const isHidden = (one) => one.closest("svg, script, noscript, option, select, .uplot, .skip")
    || !one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    || up(one).some((each) => getComputedStyle(each).clipPath !== "none");
  const within = (rect, box) => {
    const [left, right] = [Math.max(rect.left, box.left), Math.min(rect.right, box.right)];
    const [top, bottom] = [Math.max(rect.top, box.top), Math.min(rect.bottom, box.bottom)];
    return { left, right, top, bottom, width: right - left, height: bottom - top };
  };
  const leaves = (rect, box) => Math.max(box.left - rect.left, rect.right - box.right) > 1.5
    || Math.max(box.top - rect.top, rect.bottom - box.bottom) > (rect.bottom - rect.top) / 3;

  const pieces = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    const words = texts.currentNode.textContent.trim().replace(/\\s+/g, " ").slice(0, 50);
    if (!words || isHidden(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    let rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    for (const box of up(parent)) {
      const rect = box.getBoundingClientRect();
      if (scrolls(box))
        rects = rects.map((one) => within(one, rect)).filter(({ width, height }) => width > 0 && height > 0);
      else if (!/^(inline|contents)$/.test(getComputedStyle(box).display) && rects.some((one) => leaves(one, rect))) {
        wrong.push(`"${words}" leaves its box: ${tag(box)}`);
        break;
      }
      if (isAbove(box)) break;
    }
    const layer = up(parent).find(isAbove);
    pieces.push(...rects.map((rect) => ({ rect, words, parent, layer })));
  }

  pieces.sort((a, b) => a.rect.top - b.rect.top);
  pieces.forEach((one, at) => {
    for (let next = at + 1; next < pieces.length && pieces[next].rect.top < one.rect.bottom; next += 1) {
      const other = pieces[next];
      const common = within(one.rect, other.rect);
      // Lines stand a little closer than letters are high.
      const isOn = common.width > 2 && common.height > 0.35 * Math.min(one.rect.height, other.rect.height);
      if (isOn && one.parent !== other.parent && one.layer === other.layer)
        wrong.push(`"${one.words}" and "${other.words}" lie on each other`);
    }
  });

  for (const one of document.querySelectorAll("body *")) {
    if (one.scrollWidth > one.clientWidth + 1 && scrolls(one) && one.checkVisibility()
      && !(one.tabIndex >= 0 && (one.ariaLabel || one.getAttribute("aria-labelledby"))))
      wrong.push(`scrolls sideways without a name or out of reach of the keys: ${tag(one)}`);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) wrong.push(`the page is ${scrollWidth} wide in a window of ${innerWidth}`);
  return [...new Set(wrong)];
}"""


def write(page: Page, text: Text) -> None:
    """Render the page with this font and size, by the browser's own settings, which media queries follow too."""
    families = dict.fromkeys(("standard", "serif", "sansSerif"), text.font)
    # A session may set the families only once.
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setFontFamilies", {"fontFamilies": families})
    browser.send("Page.setFontSizes", {"fontSizes": {"standard": text.size, "fixed": text.size * 13 // 16}})
    browser.detach()


def with_each(
    page: Page, look: Callable[[Page], list[str]], texts: Iterable[Text] = (NARROW, WIDE, LARGE)
) -> list[str]:
    """Return the findings of ``look`` on the page rendered with each of the texts."""
    wrong = []
    for text in texts:
        write(page, text)
        page.evaluate(DRAWN)
        wrong += [f"{text.font} {text.size}: {words}" for words in look(page)]
    write(page, NARROW)
    return wrong


def broken(page: Page) -> list[str]:
    """Return faults of the layout: sideways scrolling, and text that cannot be read."""
    wrong: list[str] = page.evaluate(BROKEN)
    return wrong


DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


PHONE = {"viewport": {"width": 360, "height": 740}}
