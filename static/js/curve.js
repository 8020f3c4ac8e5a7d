/**
 * Learning curves, drawn by uPlot, with a legend, keyboard control and a PNG file.
 *
 * Exact values are solid or dashed lines. Sampled values are dotted lines inside their 95 % interval. Colours come from
 * the style sheet, because they depend on the theme. Every line also differs by its dash pattern.
 */

import { html, svg } from "./dom.js";
import { formatNumber, shares } from "./words.js";

const { uPlot } = window;

/** @type {Result[]} */
export const RESULTS = ["win", "draw", "loss"];
export const RESULT_WORDS = { win: "won", draw: "drawn", loss: "lost" };
const DASH_PATTERNS = [[], [11, 5], [14, 4, 3, 4], [5, 3], [18, 4, 3, 4, 3, 4], [24, 6]];
const DOTTED_DASH = [1.5, 4.5];

/** Returns the text of the chosen option, with a small first letter, for use within a sentence. */
export function chosenOptionName(/** @type {HTMLSelectElement} */ select) {
  const [{ text }] = select.selectedOptions;
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Returns the dash pattern of the n-th line of a picture, so that lines can be told apart without colours. */
export function dashPattern(/** @type {number} */ n) {
  return DASH_PATTERNS[n % DASH_PATTERNS.length];
}

export class Curve {
  /**
   * @param {HTMLElement} root an empty element
   * @param {object} options
   * @param {string} options.x the label of the x axis
   * @param {string} options.y the label of the y axis
   * @param {string} options.label the name of the picture for screen readers
   * @param {(x: number) => string} [options.pointWords] returns the text beside the values at a point
   * @param {number} [options.top] the value at the top of the y axis; default 1
   * @param {[number, number]} [options.range] the ends of the x axis
   * @param {number} [options.linearUntil] the point up to which a stretched x axis is linear
   * @param {boolean} [options.hasOwnEnds] whether the legend says where a line ends, if it ends earlier than others
   * @param {(x: number) => void} [options.onPick] called with a point that is pressed or dragged to; without it, dragging zooms
   * @param {(place: {left: number, width: number}) => void} [options.onPlaced] called with the position of the x axis within
   *   the picture, in pixels, whenever it changes
   */
  constructor(root, options) {
    this.options = options;
    /** @type {Line[]} */
    this.lines = [];
    /** @type {number[]} */
    this.xs = [];
    /** @type {HTMLElement[]} the values under the legend */
    this.values = [];
    this.isZoomed = false;
    this.isStretched = false;
    /** @type {number|null} the end of the x axis, if more points are to come */
    this.axisEnd = null;
    /** @type {number|null} the marked point; the legend shows its values while no cursor is in the picture */
    this.markedX = null;
    this.marker = html("div", { class: "curve-mark" });
    this.legend = html("ul", { class: "plain curve-legend" });
    this.stage = html("div", {
      class: "curve-stage",
      tabindex: 0,
      role: "group",
      "aria-label": `${options.label}. Left and right arrow walk from point to point; the values stand beneath.`,
    });
    this.pointText = html("p", { class: "curve-at figure" });
    this.announcement = html("p", { class: "visually-hidden", "aria-live": "polite" });
    this.unzoomButton = html("button", { type: "button", class: "button is-quiet", hidden: true }, "Show all of it");
    root.replaceChildren(
      this.stage,
      html("div", { class: "curve-foot" }, this.pointText, html("p", { class: "soft" }, options.y), this.unzoomButton),
      this.legend,
      this.announcement,
    );
    this.unzoomButton.addEventListener("click", () => this.#unzoom());
    this.stage.addEventListener("keydown", (event) => this.#handleKey(event));
    this.stage.addEventListener("blur", () => this.plot?.setCursor({ left: -10, top: -10 }));
    const repaint = () => this.#build();
    new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    new ResizeObserver(() => {
      this.plot?.setSize(this.#size());
      this.#placeMarker();
    }).observe(this.stage);
  }

  /** Marks a point of the x axis and shows its values. */
  mark(/** @type {number} */ x) {
    this.markedX = x;
    this.#placeMarker();
    if (this.plot) this.#showValues(this.plot.cursor.idx);
  }

  /** Returns the position of a point along the x axis: 0 at its beginning, 1 at its end. */
  positionOf(/** @type {number} */ x) {
    return this.#scaled(x) / this.#scaled(/** @type {number} */ (this.axisEnd));
  }

  /** Returns the point at a position along the x axis: the inverse of `positionOf`. */
  pointAt(/** @type {number} */ position) {
    const scaled = position * this.#scaled(/** @type {number} */ (this.axisEnd));
    return this.isStretched ? this.#linearEnd() * Math.sinh(scaled) : scaled;
  }

  /**
   * Shows lines over the same points. A zoomed picture stays zoomed if only the points have changed.
   *
   * @param {number[]} xs ascending
   * @param {Line[]} lines
   * @param {number|null} axisEnd the end of the x axis, if more points are to come
   * @param {boolean} isStretched whether the x axis is logarithmic beyond its first points
   */
  show(xs, lines, axisEnd = null, isStretched = false) {
    const hasSameLines =
      this.plot &&
      this.axisEnd === axisEnd &&
      this.isStretched === isStretched &&
      lines.length === this.lines.length &&
      lines.every((line, at) => line.name === this.lines[at].name && Boolean(line.low) === Boolean(this.lines[at].low));
    Object.assign(this, { xs, lines, axisEnd, isStretched });
    if (!hasSameLines || !this.plot) return this.#build();
    this.plot.setData(this.#data(), !this.isZoomed);
    if (this.isZoomed) this.plot.redraw();
    return this.#showValues(this.plot.cursor.idx);
  }

  /** Downloads the current picture as a PNG file, with its title and legend. */
  async downloadPng(/** @type {string} */ name, /** @type {string} */ title) {
    if (!this.plot) return;
    const plot = this.plot.ctx.canvas;
    const ratio = devicePixelRatio || 1;
    const [titleHeight, rowHeight] = [44 * ratio, 22 * ratio];
    const picture = html("canvas", {
      width: plot.width,
      height: plot.height + titleHeight + rowHeight * this.lines.length + 12 * ratio,
    });
    const ink = picture.getContext("2d");
    if (!ink) return;
    ink.fillStyle = this.#colour("paper");
    ink.fillRect(0, 0, picture.width, picture.height);
    ink.fillStyle = this.#colour("ink");
    ink.font = `bold ${16 * ratio}px sans-serif`;
    ink.fillText(title, 12 * ratio, 28 * ratio, picture.width - 24 * ratio);
    ink.drawImage(plot, 0, titleHeight);
    ink.font = `${13 * ratio}px sans-serif`;
    this.lines.forEach((line, index) => {
      const y = titleHeight + plot.height + rowHeight * (index + 0.5);
      ink.strokeStyle = this.#colour(line.colour);
      ink.lineWidth = 2 * ratio;
      ink.setLineDash((line.isSampled ? DOTTED_DASH : (line.dash ?? [])).map((length) => length * ratio));
      ink.beginPath();
      ink.moveTo(14 * ratio, y);
      ink.lineTo(58 * ratio, y);
      ink.stroke();
      ink.fillText(line.name, 68 * ratio, y + 4 * ratio);
    });
    const blob = await new Promise((resolve) => {
      picture.toBlob(resolve, "image/png");
    });
    const link = html("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /**
   * Returns the reader's text size relative to the default of 16 pixels; a canvas does not scale its texts by itself.
   */
  #textSize() {
    return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  }

  #size() {
    const width = this.stage.clientWidth || 320;
    return { width, height: Math.round(Math.min(420, Math.max(200 + 70 * this.#textSize(), width * 0.46))) };
  }

  /** Returns the colour of a line or text in the current theme. */
  #colour(/** @type {string} */ name) {
    const probe = html("span", { class: `curve-ink-${name}`, hidden: true });
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }

  /**
   * Returns the data for uPlot: points, the values of all lines, then the upper and lower bounds of each band.
   *
   * @returns {CurveData}
   */
  #data() {
    const bounds = this.lines.flatMap(({ low, high }) => (low && high ? [high, low] : []));
    return [this.xs, ...this.lines.map(({ values }) => values), ...bounds];
  }

  /** Draws the whole picture anew. */
  #build() {
    this.plot?.destroy();
    if (!this.lines.length) return;
    const ink = this.#colour("ink");
    const grid = { stroke: this.#colour("line"), width: 1 };
    const size = this.#textSize();
    const font = `${14 * size}px sans-serif`;
    const { width, height } = this.#size();
    const axisWidth = width - 82 * size; // without the numbers at the left, and half a number at the right
    // Returns a font that is small enough for a label to fit along its axis.
    /** @param {string|undefined} label @param {number} length the length of the axis in pixels */
    const fittingFont = (label, length) => `${Math.min(14 * size, (1.6 * length) / (label?.length || 1))}px sans-serif`;
    const axis = { stroke: ink, grid, ticks: grid, font, labelSize: 22 * size, labelGap: 0 };
    const bandLines = this.lines.filter(({ low }) => low);
    const series = this.lines.map((line) => ({
      label: line.name,
      stroke: line.isBand ? "transparent" : this.#colour(line.colour),
      width: line.isSampled ? 1.5 : 2.2,
      spanGaps: true,
      dash: line.isSampled ? DOTTED_DASH : (line.dash ?? []),
      points: { show: () => !line.isBars && this.xs.length < 3, size: 6 },
      ...(line.isBars
        ? { paths: uPlot.paths.bars?.({ size: [0.8, 48] }), fill: withOpacity(this.#colour(line.colour), 0.35) }
        : {}),
    }));
    const edges = bandLines.flatMap(() =>
      [0, 1].map(() => ({ stroke: "transparent", width: 0, points: { show: false }, spanGaps: true })),
    );
    const firstBound = 1 + this.lines.length;
    this.isZoomed = false;
    this.unzoomButton.hidden = true;
    this.plot = new uPlot(
      {
        width,
        height,
        padding: [null, 20 * size, null, null],
        series: [{ label: this.options.x }, ...series, ...edges],
        bands: bandLines.map((line, at) => ({
          series: [firstBound + 2 * at, firstBound + 2 * at + 1],
          fill: withOpacity(this.#colour(line.colour), 0.16),
        })),
        scales: {
          x: {
            time: false,
            ...this.#scale(),
            range: (_, min, max) =>
              this.isZoomed
                ? [min, max]
                : (this.options.range ?? [0, Math.max(this.axisEnd ?? 0, this.xs.at(-1) ?? 0, 1)]),
          },
          y: { range: () => [0, this.options.top ?? 1] },
        },
        axes: [
          {
            ...axis,
            label: this.options.x,
            labelFont: fittingFont(this.options.x, axisWidth),
            values: (_, ticks) => ticks.map(shortNumber),
            space: Math.min(64 * size, 0.9 * axisWidth),
            size: 34 * size,
            ...(this.isStretched && {
              splits: (_, __, min, max) => this.#ticks(min, max),
              filter: (_, ticks) => ticks,
            }),
          },
          {
            ...axis,
            label: this.options.y,
            labelFont: fittingFont(this.options.y, height - 56 * size),
            values: (_, ticks) => ticks.map((part) => `${Math.round(100 * part)}`),
            size: 40 * size,
          },
        ],
        legend: { show: false },
        cursor: { drag: { x: !this.options.onPick, y: false, dist: 6 }, points: { size: 7 }, y: false },
        hooks: {
          // Before this event the picture has no size.
          ready: [() => this.#placeMarker()],
          setCursor: [(plot) => this.#showValues(plot.cursor.idx)],
          setSelect: [
            (plot) => {
              if (plot.select.width > 6) {
                this.isZoomed = true;
                this.unzoomButton.hidden = false;
              }
            },
          ],
        },
      },
      this.#data(),
      this.stage,
    );
    if (this.options.onPick) this.#makePickable();
    else this.plot.over.addEventListener("dblclick", () => this.#unzoom());
    this.#buildLegend();
    this.#showValues(null);
  }

  /** Places the mark, and reports the position of the x axis to `options.onPlaced`. */
  #placeMarker() {
    if (!this.plot || this.markedX === null) return;
    this.marker.style.left = `${this.plot.valToPos(this.markedX, "x")}px`;
    const { left, width } = this.plot.over.getBoundingClientRect();
    this.options.onPlaced?.({ left: left - this.stage.getBoundingClientRect().left, width });
  }

  /** Calls `options.onPick` when the pointer is pressed in the picture, and while it is dragged. */
  #makePickable() {
    const { plot } = this;
    if (!plot) return;
    const { over } = plot;
    over.classList.add("is-pickable");
    over.append(this.marker);
    /** @param {PointerEvent} of */
    const pick = ({ clientX }) =>
      this.options.onPick?.(plot.posToVal(clientX - over.getBoundingClientRect().left, "x"));
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      pick(event);
    });
    over.addEventListener("pointermove", (event) => over.hasPointerCapture(event.pointerId) && pick(event));
  }

  /**
   * Returns the x scale for uPlot. A stretched one is linear up to `#linearEnd()` and logarithmic beyond (asinh).
   *
   * @returns {CurveScale}
   */
  #scale() {
    if (!this.isStretched) return {};
    const linearEnd = this.#linearEnd();
    return { distr: 100, fwd: (games) => this.#scaled(games), bwd: (place) => linearEnd * Math.sinh(place) };
  }

  /** Returns the scaled value of a point of the x axis. */
  #scaled(/** @type {number} */ games) {
    return this.isStretched ? Math.asinh(games / this.#linearEnd()) : games;
  }

  /** Returns the point up to which a stretched x axis is linear. */
  #linearEnd() {
    return this.options.linearUntil ?? Math.max(1, (this.axisEnd ?? this.xs.at(-1) ?? 1) / 3600);
  }

  /** Returns round numbers for a stretched axis, as many as fit. Powers of ten take precedence. */
  #ticks(/** @type {number} */ min, /** @type {number} */ max) {
    const minDistance = (58 * (this.#scaled(max) - this.#scaled(min))) / Math.max(120, this.#size().width - 80);
    const candidates = [Math.max(0, min), max];
    for (const digit of [1, 5, 2]) for (let power = 1; power <= max; power *= 10) candidates.push(digit * power);
    /** @type {number[]} */
    const ticks = [];
    for (const games of candidates) {
      const isIn = games >= min && games <= max;
      const isRound = games === 0 || Number(games.toPrecision(2)) === games;
      if (isIn && isRound && ticks.every((other) => Math.abs(this.#scaled(other) - this.#scaled(games)) >= minDistance))
        ticks.push(games);
    }
    return ticks.sort((a, b) => a - b);
  }

  #unzoom() {
    this.isZoomed = false;
    if (document.activeElement === this.unzoomButton) this.stage.focus();
    this.unzoomButton.hidden = true;
    this.plot?.setData(this.#data(), true);
  }

  /** Fills the legend with a sample of each line, its name, and a place for its value. */
  #buildLegend() {
    this.values = this.lines.map(() => html("b", { class: "figure" }));
    this.legend.replaceChildren(
      ...this.lines.map((line, index) =>
        html(
          "li",
          {},
          svg(
            "svg",
            { width: 44, height: 14, class: `curve-ink-${line.colour}`, "aria-hidden": "true" },
            line.isBand
              ? svg("rect", { width: 44, height: 14, fill: "currentColor", opacity: 0.25 })
              : svg("line", {
                  x1: 1,
                  x2: 43,
                  y1: 7,
                  y2: 7,
                  stroke: "currentColor",
                  "stroke-width": 2.4,
                  "stroke-dasharray": (line.isSampled ? DOTTED_DASH : (line.dash ?? [])).join(" "),
                }),
          ),
          html("span", {}, line.name),
          this.values[index],
        ),
      ),
    );
  }

  /** Shows the values at the point under the cursor. Without a cursor, those of the marked point or the last point. */
  #showValues(/** @type {number|null|undefined} */ cursorIndex) {
    if (!this.values.length) return;
    const { markedX } = this;
    const nVisible = markedX === null ? this.xs.length : this.xs.filter((x) => x <= markedX).length;
    const pointIndex = cursorIndex ?? nVisible - 1;
    const pointWords = this.options.pointWords ?? ((x) => `After ${formatNumber(x)} games`);
    this.pointText.textContent = this.xs.length ? pointWords(this.xs[pointIndex]) : "No point yet";
    const hasNoCursor = cursorIndex === null || cursorIndex === undefined;
    // Without a cursor, a line that ends earlier shows its own last point.
    const pointIndices = this.lines.map(({ values }) =>
      (values[pointIndex] ?? null) !== null || !hasNoCursor ? pointIndex : lastKnownIndex(values.slice(0, nVisible)),
    );
    // Lines that are parts of a whole are rounded together, so that their sum is 100.
    const partLines = this.lines.flatMap(({ isPart }, n) =>
      isPart && (this.lines[n].values[pointIndex] ?? null) !== null ? n : [],
    );
    const roundedParts = shares(partLines.map((n) => /** @type {number} */ (this.lines[n].values[pointIndex])));
    this.lines.forEach((line, n) => {
      const value = line.values[pointIndices[n]] ?? null;
      const text = partLines.includes(n)
        ? roundedParts[partLines.indexOf(n)]
        : value === null
          ? "\u2013"
          : pointsOfHundred(value);
      const isEarlier = this.options.hasOwnEnds && value !== null && pointIndices[n] !== pointIndex;
      const { low = [], high = [] } = line;
      this.values[n].textContent = line.isBand
        ? rangeWords(lastValue(low.slice(0, pointIndex + 1)), lastValue(high.slice(0, pointIndex + 1)))
        : value === null || (low[pointIndices[n]] ?? null) === null
          ? `${text}${isEarlier ? ` (${pointWords(this.xs[pointIndices[n]]).replace(/^After/, "after")})` : ""}`
          : `${text} (${pointsOfHundred(/** @type {number} */ (low[pointIndices[n]]))} to ${pointsOfHundred(/** @type {number} */ (high[pointIndices[n]]))})`;
    });
  }

  #handleKey(/** @type {KeyboardEvent} */ event) {
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (event.key === "Escape" && this.isZoomed) return this.#unzoom();
    if (!(event.key in steps) || !this.plot || event.altKey || event.ctrlKey || event.metaKey) return undefined;
    event.preventDefault();
    const current = this.plot.cursor.idx ?? (event.key === "ArrowLeft" ? this.xs.length : -1);
    const at = Math.min(this.xs.length - 1, Math.max(0, current + steps[event.key]));
    this.plot.setCursor({ left: this.plot.valToPos(this.xs[at], "x"), top: 10 });
    this.announcement.textContent = [
      this.pointText.textContent,
      ...this.lines.map((line, n) => `${line.name} ${this.values[n].textContent}`),
    ].join(", ");
    return undefined;
  }
}

/** Returns the index of the last value that is not null, or −1 if all are. */
function lastKnownIndex(/** @type {(number|null)[]} */ values) {
  return values.reduce((/** @type {number} */ last, value, at) => (value === null ? last : at), -1);
}

/** Returns the last value that is not null. */
function lastValue(/** @type {(number|null)[]} */ values) {
  return values[lastKnownIndex(values)];
}

function rangeWords(/** @type {number|null} */ low, /** @type {number|null} */ high) {
  return (low ?? null) === null
    ? "\u2013"
    : `${pointsOfHundred(/** @type {number} */ (low))} to ${pointsOfHundred(/** @type {number} */ (high))}`;
}

/** Returns an `rgb(…)` colour with an opacity. */
function withOpacity(/** @type {string} */ colour, /** @type {number} */ opacity) {
  return colour.replace("rgb(", "rgba(").replace(")", `, ${opacity})`);
}

/** Returns a share as points of a hundred with one decimal, such as "12.3". */
export function pointsOfHundred(/** @type {number} */ value) {
  return (100 * value).toFixed(1);
}

/** Returns a large number in a short form, such as "12.5 k" or "1.2 M". */
function shortNumber(/** @type {number} */ n) {
  if (n >= 1e6) return `${+(n / 1e6).toFixed(2)} M`;
  return n >= 10_000 ? `${+(n / 1e3).toFixed(1)} k` : formatNumber(n);
}
