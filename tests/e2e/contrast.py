"""Contrasts on a page: of text, and of all shapes that a player has to distinguish (WCAG 1.4.3 and 1.4.11)."""

from playwright.sync_api import Page

from tests.e2e.axe import THEMES

TEXT_MIN_CONTRAST = 4.5
MIN_CONTRAST = 3.0

# Returns the texts with too little contrast to the first opaque colour behind them.
LOW_TEXT_CONTRASTS = """(minContrast) => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const colourBehind = (element) => {
    for (let ancestor = element; ancestor; ancestor = ancestor.parentElement) {
      const colour = rgba(getComputedStyle(ancestor).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faults = [];
  while (texts.nextNode()) {
    const { parentElement: element, textContent } = texts.currentNode;
    if (!textContent.trim() || element.closest("svg, script, noscript, option") || !element.checkVisibility()) continue;
    const textLuminance = luminance(rgba(getComputedStyle(element).color));
    const backLuminance = luminance(colourBehind(element));
    const contrast = (Math.max(textLuminance, backLuminance) + 0.05) / (Math.min(textLuminance, backLuminance) + 0.05);
    if (contrast < minContrast) faults.push(`${contrast.toFixed(2)} ${textContent.trim().slice(0, 60)}`);
  }
  return faults;
}"""

# Returns beads with a contrast below 3 to the wood, and marks with a contrast below 4.5 to the glass of their bead.
LOW_BEAD_CONTRASTS = """() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) =>
    (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const floor = getComputedStyle(document.querySelector(".drawer-floor")).fill;
  const faults = [];
  const group = document.querySelector(".drawer .beads");
  const bead = group.querySelector(".bead").cloneNode(true);
  group.append(bead);
  for (let colour = 0; colour < 9; colour += 1) {
    bead.setAttribute("class", `bead bead-${colour}`);
    const [glass, ring, mark] = ["glass", "ring", "mark"]
      .map((part) => getComputedStyle(bead.querySelector(`.bead-${part}`)));
    const woodContrast = Math.max(contrast(glass.fill, floor), contrast(ring.stroke, floor));
    if (woodContrast < 3) faults.push(`bead ${colour} on the wood`);
    if (contrast(glass.fill, mark.fill) < 4.5) faults.push(`mark of bead ${colour}`);
  }
  bead.remove();
  return faults;
}"""

# Returns shapes with too little contrast to their background: pieces, lines of boards, beads, curves, text in pictures,
# and the edges or faces of buttons and fields. Elements that are faint on purpose (a ghost, a removed bead, a disabled
# button) and buttons that are only text are not checked.
LOW_SHAPE_CONTRASTS = """([minContrast, minTextContrast]) => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const isSolid = (colour) => colour !== "none" && CSS.supports("color", colour) && rgba(colour)[3] === 255;
  const luminance = (colour) => rgba(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = (a, b) =>
    (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !element.closest(".is-ghost, .is-gone, .ghost, defs, [aria-disabled=true], .select2-hidden-accessible");
  const faceBehind = (element) => {
    for (let ancestor = element; ancestor; ancestor = ancestor.parentElement) {
      const faces = ancestor.matches(".wall-box") ? ["::before", null] : [null];
      for (const face of faces) {
        const { backgroundColor } = getComputedStyle(ancestor, face);
        if (isSolid(backgroundColor)) return backgroundColor;
      }
    }
    return "#fff";
  };
  const SHAPES = "path, rect, circle, ellipse, polygon, polyline, line";
  const SHAPE_SELECTOR = ".ruling, .piece, .piece-disc, .piece-man, .piece-shape, .bead, .thread, .wall-mark,"
    + " .wall-grid, .wall-man, .curve-legend line, .progress-line, .list-curve polyline:not(.curve-half)";
  // Pieces and beads do not overlap, but text may lie on them.
  const colourBehind = (shape) => {
    let picture = shape.closest("svg");
    while (picture.parentElement.closest("svg")) picture = picture.parentElement.closest("svg");
    const { left, right, top, bottom } = shape.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    let fillBehind = null;
    for (const element of picture.querySelectorAll(SHAPES)) {
      if (shape === element || shape.contains(element)) break;
      if (!shape.matches("text") && element.closest(SHAPE_SELECTOR)) continue;
      const { fill, fillOpacity, opacity } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      const isBehind = box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
      if (isBehind && isSolid(fill) && fillOpacity * opacity > 0.99 && isVisible(element)) fillBehind = fill;
    }
    return fillBehind ?? faceBehind(picture);
  };
  const faults = [];
  const report = (element, score) =>
    faults.push(`${score.toFixed(2)} ${element.outerHTML.replace(/\\s+/g, " ").slice(0, 110)}`);
  for (const shape of document.querySelectorAll(SHAPE_SELECTOR)) {
    if (!isVisible(shape)) continue;
    const parts = shape.matches(SHAPES) ? [shape] : [...shape.querySelectorAll(SHAPES)];
    const styles = parts.map((part) => getComputedStyle(part));
    const colours = styles.flatMap(({ fill, stroke }) => [fill, stroke]).filter(isSolid);
    const score = Math.max(0, ...colours.map((colour) => contrast(colour, colourBehind(shape))));
    if (score < minContrast) report(shape, score);
  }
  for (const words of document.querySelectorAll("svg text")) {
    if (!isVisible(words) || !words.textContent.trim()) continue;
    const score = contrast(getComputedStyle(words).fill, colourBehind(words));
    if (score < minTextContrast) report(words, score);
  }
  const fields = "input:not([type=hidden], [type=checkbox], [type=radio], [type=range], [type=file])";
  const buttons = "button, .button, .closelink, .deletelink, select, textarea";
  for (const element of document.querySelectorAll(`:is(${buttons}, ${fields}):not(:disabled)`)) {
    if (!isVisible(element)) continue;
    const { backgroundColor: face, borderTopWidth, borderLeftWidth, borderTopColor: edge } = getComputedStyle(element);
    const ground = faceBehind(element.parentElement);
    const hasEdge = parseFloat(borderTopWidth) > 0 && parseFloat(borderLeftWidth) > 0 && isSolid(edge);
    const hasFace = isSolid(face) && contrast(face, ground) > 1;
    const score = Math.max(hasEdge ? contrast(edge, ground) : 0, hasFace ? contrast(face, ground) : 0);
    if ((hasEdge || hasFace) && score < minContrast) report(element, score);
  }
  return [...new Set(faults)];
}"""


def low_contrasts(page: Page) -> list[str]:
    """Return the elements with too little contrast in both themes: text, pieces, beads, edges of buttons."""
    faults = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
        low_contrast_elements = page.evaluate(LOW_TEXT_CONTRASTS, TEXT_MIN_CONTRAST) + page.evaluate(
            LOW_SHAPE_CONTRASTS, [MIN_CONTRAST, TEXT_MIN_CONTRAST]
        )
        faults += [f"{theme}: {element}" for element in low_contrast_elements]
    return faults
