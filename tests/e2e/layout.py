"""Checks of a page's layout at any width, font and text size."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass(frozen=True)
class TextStyle:
    """The browser's default font, which is one of ``tests/data/fonts``, and default font size in pixels."""

    font: str
    size: int = 16


NARROW_FONT = TextStyle("Carlito")  # the default of fonts.conf
WIDE_FONT = TextStyle("Bitstream Vera Sans")
LARGE_TEXT = TextStyle("Bitstream Vera Sans", 32)  # twice as large (WCAG 1.4.4)

# JavaScript that returns a sentence for each fault: text outside its element's box, text on top of other text, an
# element that scrolls sideways but has no name or cannot be focused, and a page that is wider than its window.
# The script ignores text in pictures and text that is scrolled out of sight. Text in a layer above the page (the sheet,
# a dialogue, a peek) may cover text of the page, but no text in the same layer.
FIND_FAULTS = """() => {
  const faults = [];
  const tag = (element) => element.outerHTML.replace(/\\s+/g, " ").slice(0, 90);
  const withAncestors = (element) =>
    element && element !== document.documentElement ? [element, ...withAncestors(element.parentElement)] : [];
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const isLayer = (element) => element.matches("dialog, .peek") || getComputedStyle(element).position === "fixed";
  const isHidden = (element) => element.closest("svg, script, noscript, option, select, .uplot, .skip")
    || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    || withAncestors(element).some((ancestor) => getComputedStyle(ancestor).clipPath !== "none");
  const intersection = (rect, box) => {
    const [left, right] = [Math.max(rect.left, box.left), Math.min(rect.right, box.right)];
    const [top, bottom] = [Math.max(rect.top, box.top), Math.min(rect.bottom, box.bottom)];
    return { left, right, top, bottom, width: right - left, height: bottom - top };
  };
  const isOutside = (rect, box) => Math.max(box.left - rect.left, rect.right - box.right) > 1.5
    || Math.max(box.top - rect.top, rect.bottom - box.bottom) > (rect.bottom - rect.top) / 3;

  const lines = []; // the rectangle of each line of visible text
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    const words = texts.currentNode.textContent.trim().replace(/\\s+/g, " ").slice(0, 50);
    if (!words || isHidden(parent)) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    let rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    for (const element of withAncestors(parent)) {
      const box = element.getBoundingClientRect();
      const hasBox = !/^(inline|contents)$/.test(getComputedStyle(element).display);
      if (scrolls(element))
        rects = rects.map((rect) => intersection(rect, box)).filter(({ width, height }) => width > 0 && height > 0);
      else if (hasBox && rects.some((rect) => isOutside(rect, box))) {
        faults.push(`"${words}" leaves its box: ${tag(element)}`);
        break;
      }
      if (isLayer(element)) break;
    }
    const layer = withAncestors(parent).find(isLayer);
    lines.push(...rects.map((rect) => ({ rect, words, parent, layer })));
  }

  lines.sort((a, b) => a.rect.top - b.rect.top);
  lines.forEach((line, index) => {
    for (let next = index + 1; next < lines.length && lines[next].rect.top < line.rect.bottom; next += 1) {
      const other = lines[next];
      const common = intersection(line.rect, other.rect);
      // A small overlap is no fault: the rectangle of a line of text is higher than its letters.
      const overlaps = common.width > 2 && common.height > 0.35 * Math.min(line.rect.height, other.rect.height);
      if (overlaps && line.parent !== other.parent && line.layer === other.layer)
        faults.push(`"${line.words}" and "${other.words}" overlap`);
    }
  });

  for (const element of document.querySelectorAll("body *")) {
    if (element.scrollWidth > element.clientWidth + 1 && scrolls(element) && element.checkVisibility()
      && !(element.tabIndex >= 0 && (element.ariaLabel || element.getAttribute("aria-labelledby"))))
      faults.push(`scrolls sideways, but has no name or cannot be focused with the keyboard: ${tag(element)}`);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} wide in a window of ${innerWidth}`);
  return [...new Set(faults)];
}"""


def text_style_set(page: Page, style: TextStyle) -> None:
    """Set the browser's own default font and font size for a page. Media queries in em or rem follow the size too."""
    families = dict.fromkeys(("standard", "serif", "sansSerif"), style.font)
    # A DevTools session can set the font families only once, so each call opens a session.
    devtools = page.context.new_cdp_session(page)
    devtools.send("Page.setFontFamilies", {"fontFamilies": families})
    devtools.send("Page.setFontSizes", {"fontSizes": {"standard": style.size, "fixed": style.size * 13 // 16}})
    devtools.detach()


# Two frames: the first applies a change of style, the second comes after its drawing.
WAIT_UNTIL_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def faults_in_each_style(
    page: Page,
    find_faults: Callable[[Page], list[str]],
    styles: Iterable[TextStyle] = (NARROW_FONT, WIDE_FONT, LARGE_TEXT),
) -> list[str]:
    """Return the faults that ``find_faults`` returns in each text style. At the end the page has ``NARROW_FONT``."""
    faults = []
    for style in styles:
        text_style_set(page, style)
        page.evaluate(WAIT_UNTIL_DRAWN)
        faults += [f"{style.font} {style.size}: {fault}" for fault in find_faults(page)]
    text_style_set(page, NARROW_FONT)
    return faults


def layout_faults(page: Page) -> list[str]:
    """Return descriptions of the faults that ``FIND_FAULTS`` finds in the page's layout."""
    faults: list[str] = page.evaluate(FIND_FAULTS)
    return faults


PHONE_OPTIONS = {"viewport": {"width": 360, "height": 740}}
