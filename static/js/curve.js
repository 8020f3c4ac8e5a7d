/**
 * Learning curves on uPlot: a picture with its own legend, keys, table, CSV and PNG.
 *
 * Exact values are solid or dashed lines; sampled ones are dotted, inside their 95 % interval. Colours come from the
 * style sheet, so that both themes draw them; every line also has a dash of its own.
 */

import { html, svg } from "./dom.js";
import { figure, shares } from "./words.js";

const { uPlot } = window;

/** @type {Result[]} */
export const RESULTS = ["win", "draw", "loss"];
export const RESULT_WORDS = { win: "won", draw: "drawn", loss: "lost" };
const DASHES = [[], [11, 5], [14, 4, 3, 4], [5, 3], [18, 4, 3, 4, 3, 4], [24, 6]];
const DOTTED = [1.5, 4.5];

/** The opponent that is chosen, as within a sentence. */
export function chosenName(/** @type {HTMLSelectElement} */ select) {
  const [{ text }] = select.selectedOptions;
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** The dash that tells the n-th line of a picture from the others. */
export function dash(/** @type {number} */ n) {
  return DASHES[n % DASHES.length];
}

export class Curve {
  /**
   * @param {HTMLElement} root an empty element
   * @param {{x: string, y: string, label: string, at?: (x: number) => string, top?: number, range?: [number, number], first?: number,
   *   hasOwnEnds?: boolean, pick?: (x: number) => void, placed?: (place: {left: number, width: number}) => void}} words what the axes count, and
   *   the name of the picture; where the values are read, the share at the top, the ends of the x axis, up to where a stretched one
   *   is linear; with `hasOwnEnds` a line that ends earlier than others says where; with `pick` a place is chosen by pressing and dragging, where others zoom; `placed` is told where the x axis lies within the picture
   */
  constructor(root, words) {
    this.words = words;
    /** @type {Line[]} */
    this.lines = [];
    /** @type {number[]} */
    this.xs = [];
    /** @type {HTMLElement[]} the values under the legend */
    this.values = [];
    this.isZoomed = false;
    this.isStretched = false;
    /** @type {number|null} where the axis ends, when more points are to come */
    this.end = null;
    /** @type {number|null} the place that is marked, and read while no cursor is in the picture */
    this.marked = null;
    this.marker = html("div", { class: "curve-mark" });
    this.legend = html("ul", { class: "plain curve-legend" });
    this.stage = html("div", {
      class: "curve-stage",
      tabindex: 0,
      role: "group",
      "aria-label": `${words.label}. Left and right arrow walk from point to point; the values stand beneath.`,
    });
    this.at = html("p", { class: "curve-at figure" });
    this.told = html("p", { class: "visually-hidden", "aria-live": "polite" });
    this.whole = html("button", { type: "button", class: "button is-quiet", hidden: true }, "Show all of it");
    root.replaceChildren(
      this.stage,
      html("div", { class: "curve-foot" }, this.at, html("p", { class: "soft" }, words.y), this.whole),
      this.legend,
      this.told,
    );
    this.whole.addEventListener("click", () => this.#unzoom());
    this.stage.addEventListener("keydown", (event) => this.#key(event));
    this.stage.addEventListener("blur", () => this.plot?.setCursor({ left: -10, top: -10 }));
    const repaint = () => this.#build();
    new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    new ResizeObserver(() => {
      this.plot?.setSize(this.#size());
      this.#place();
    }).observe(this.stage);
  }

  /** Marks a place on the x axis. */
  mark(/** @type {number} */ x) {
    this.marked = x;
    this.#place();
    if (this.plot) this.#read(this.plot.cursor.idx);
  }

  /** Where a place on the x axis lies: 0 at its beginning, 1 at its end. */
  share(/** @type {number} */ x) {
    return this.#along(x) / this.#along(/** @type {number} */ (this.end));
  }

  /** The place on the x axis that lies at such a share of it. */
  atShare(/** @type {number} */ share) {
    const along = share * this.#along(/** @type {number} */ (this.end));
    return this.isStretched ? this.#first() * Math.sinh(along) : along;
  }

  /**
   * Shows lines over the same points; what was zoomed in to stays in sight while points arrive.
   *
   * @param {number[]} xs ascending
   * @param {Line[]} lines
   * @param {number|null} end where the axis ends, when more points are to come
   * @param {boolean} isStretched whether the axis grows by powers of ten, so that the first games can be seen
   */
  show(xs, lines, end = null, isStretched = false) {
    const isSame =
      this.plot &&
      this.end === end &&
      this.isStretched === isStretched &&
      lines.length === this.lines.length &&
      lines.every((line, at) => line.name === this.lines[at].name && Boolean(line.low) === Boolean(this.lines[at].low));
    Object.assign(this, { xs, lines, end, isStretched });
    if (!isSame || !this.plot) return this.#build();
    this.plot.setData(this.#data(), !this.isZoomed);
    if (this.isZoomed) this.plot.redraw();
    return this.#read(this.plot.cursor.idx);
  }

  /** The current picture as a PNG file, with its title and legend. */
  async png(/** @type {string} */ name, /** @type {string} */ title) {
    if (!this.plot) return;
    const from = this.plot.ctx.canvas;
    const ratio = devicePixelRatio || 1;
    const [head, row] = [44 * ratio, 22 * ratio];
    const picture = html("canvas", {
      width: from.width,
      height: from.height + head + row * this.lines.length + 12 * ratio,
    });
    const ink = picture.getContext("2d");
    if (!ink) return;
    ink.fillStyle = this.#colour("paper");
    ink.fillRect(0, 0, picture.width, picture.height);
    ink.fillStyle = this.#colour("ink");
    ink.font = `bold ${16 * ratio}px sans-serif`;
    ink.fillText(title, 12 * ratio, 28 * ratio, picture.width - 24 * ratio);
    ink.drawImage(from, 0, head);
    ink.font = `${13 * ratio}px sans-serif`;
    this.lines.forEach((line, at) => {
      const y = head + from.height + row * (at + 0.5);
      ink.strokeStyle = this.#colour(line.colour);
      ink.lineWidth = 2 * ratio;
      ink.setLineDash((line.isSampled ? DOTTED : (line.dash ?? [])).map((length) => length * ratio));
      ink.beginPath();
      ink.moveTo(14 * ratio, y);
      ink.lineTo(58 * ratio, y);
      ink.stroke();
      ink.fillText(line.name, 68 * ratio, y + 4 * ratio);
    });
    const blob = await new Promise((done) => {
      picture.toBlob(done, "image/png");
    });
    const link = html("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** The reader's text size relative to the default, since a canvas does not scale with it. */
  #textSize() {
    return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  }

  #size() {
    const width = this.stage.clientWidth || 320;
    return { width, height: Math.round(Math.min(420, Math.max(200 + 70 * this.#textSize(), width * 0.46))) };
  }

  #colour(/** @type {string} */ name) {
    const probe = html("span", { class: `curve-ink-${name}`, hidden: true });
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }

  /** @returns {CurveData} */
  #data() {
    const bounds = this.lines.flatMap(({ low, high }) => (low && high ? [high, low] : []));
    return [this.xs, ...this.lines.map(({ values }) => values), ...bounds];
  }

  #build() {
    this.plot?.destroy();
    if (!this.lines.length) return;
    const ink = this.#colour("ink");
    const grid = { stroke: this.#colour("line"), width: 1 };
    const size = this.#textSize();
    const font = `${14 * size}px sans-serif`;
    const { width, height } = this.#size();
    const across = width - 82 * size; // without the numbers at its left and the half of one at its right
    // A label has the length of its axis and no more.
    /** @param {string|undefined} label @param {number} room */
    const fitted = (label, room) => `${Math.min(14 * size, (1.6 * room) / (label?.length || 1))}px sans-serif`;
    const axis = { stroke: ink, grid, ticks: grid, font, labelSize: 22 * size, labelGap: 0 };
    const banded = this.lines.filter(({ low }) => low);
    const series = this.lines.map((line) => ({
      label: line.name,
      stroke: line.isBand ? "transparent" : this.#colour(line.colour),
      width: line.isSampled ? 1.5 : 2.2,
      spanGaps: true,
      dash: line.isSampled ? DOTTED : (line.dash ?? []),
      points: { show: () => !line.isBars && this.xs.length < 3, size: 6 },
      ...(line.isBars
        ? { paths: uPlot.paths.bars?.({ size: [0.8, 48] }), fill: tint(this.#colour(line.colour), 0.35) }
        : {}),
    }));
    const edges = banded.flatMap(() =>
      [0, 1].map(() => ({ stroke: "transparent", width: 0, points: { show: false }, spanGaps: true })),
    );
    const first = 1 + this.lines.length;
    this.isZoomed = false;
    this.whole.hidden = true;
    this.plot = new uPlot(
      {
        width,
        height,
        padding: [null, 20 * size, null, null],
        series: [{ label: this.words.x }, ...series, ...edges],
        bands: banded.map((line, at) => ({
          series: [first + 2 * at, first + 2 * at + 1],
          fill: tint(this.#colour(line.colour), 0.16),
        })),
        scales: {
          x: {
            time: false,
            ...this.#scale(),
            range: (_, min, max) =>
              this.isZoomed ? [min, max] : (this.words.range ?? [0, Math.max(this.end ?? 0, this.xs.at(-1) ?? 0, 1)]),
          },
          y: { range: () => [0, this.words.top ?? 1] },
        },
        axes: [
          {
            ...axis,
            label: this.words.x,
            labelFont: fitted(this.words.x, across),
            values: (_, ticks) => ticks.map(short),
            space: Math.min(64 * size, 0.9 * across),
            size: 34 * size,
            ...(this.isStretched && {
              splits: (_, __, min, max) => this.#ticks(min, max),
              filter: (_, ticks) => ticks,
            }),
          },
          {
            ...axis,
            label: this.words.y,
            labelFont: fitted(this.words.y, height - 56 * size),
            values: (_, ticks) => ticks.map((share) => `${Math.round(100 * share)}`),
            size: 40 * size,
          },
        ],
        legend: { show: false },
        cursor: { drag: { x: !this.words.pick, y: false, dist: 6 }, points: { size: 7 }, y: false },
        hooks: {
          // Only now the picture has a size.
          ready: [() => this.#place()],
          setCursor: [(plot) => this.#read(plot.cursor.idx)],
          setSelect: [
            (plot) => {
              if (plot.select.width > 6) {
                this.isZoomed = true;
                this.whole.hidden = false;
              }
            },
          ],
        },
      },
      this.#data(),
      this.stage,
    );
    if (this.words.pick) this.#pickable();
    else this.plot.over.addEventListener("dblclick", () => this.#unzoom());
    this.#explain();
    this.#read(null);
  }

  /** Places the mark, and reports the position of the axis. */
  #place() {
    if (!this.plot || this.marked === null) return;
    this.marker.style.left = `${this.plot.valToPos(this.marked, "x")}px`;
    const { left, width } = this.plot.over.getBoundingClientRect();
    this.words.placed?.({ left: left - this.stage.getBoundingClientRect().left, width });
  }

  /** Pressing chooses a place, and dragging moves it. */
  #pickable() {
    const { plot } = this;
    if (!plot) return;
    const { over } = plot;
    over.classList.add("is-pickable");
    over.append(this.marker);
    /** @param {PointerEvent} of */
    const pick = ({ clientX }) => this.words.pick?.(plot.posToVal(clientX - over.getBoundingClientRect().left, "x"));
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      pick(event);
    });
    over.addEventListener("pointermove", (event) => over.hasPointerCapture(event.pointerId) && pick(event));
  }

  /** Linear up to the first point, from there on by powers of ten: a logarithm that begins at 0. @returns {CurveScale} */
  #scale() {
    if (!this.isStretched) return {};
    const first = this.#first();
    return { distr: 100, fwd: (games) => this.#along(games), bwd: (place) => first * Math.sinh(place) };
  }

  #along(/** @type {number} */ games) {
    return this.isStretched ? Math.asinh(games / this.#first()) : games;
  }

  #first() {
    return this.words.first ?? Math.max(1, (this.end ?? this.xs.at(-1) ?? 1) / 3600);
  }

  /** Round numbers for a stretched axis, as many as fit; powers of ten take precedence. */
  #ticks(/** @type {number} */ min, /** @type {number} */ max) {
    const room = (58 * (this.#along(max) - this.#along(min))) / Math.max(120, this.#size().width - 80);
    const wanted = [Math.max(0, min), max];
    for (const part of [1, 5, 2]) for (let ten = 1; ten <= max; ten *= 10) wanted.push(part * ten);
    /** @type {number[]} */
    const ticks = [];
    for (const games of wanted) {
      const isIn = games >= min && games <= max;
      const isRound = games === 0 || Number(games.toPrecision(2)) === games;
      if (isIn && isRound && ticks.every((other) => Math.abs(this.#along(other) - this.#along(games)) >= room))
        ticks.push(games);
    }
    return ticks.sort((a, b) => a - b);
  }

  #unzoom() {
    this.isZoomed = false;
    if (document.activeElement === this.whole) this.stage.focus();
    this.whole.hidden = true;
    this.plot?.setData(this.#data(), true);
  }

  #explain() {
    this.values = this.lines.map(() => html("b", { class: "figure" }));
    this.legend.replaceChildren(
      ...this.lines.map((line, at) =>
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
                  "stroke-dasharray": (line.isSampled ? DOTTED : (line.dash ?? [])).join(" "),
                }),
          ),
          html("span", {}, line.name),
          this.values[at],
        ),
      ),
    );
  }

  /** The values at the point under the cursor; at the last point when there is none. */
  #read(/** @type {number|null|undefined} */ idx) {
    if (!this.values.length) return;
    const { marked } = this;
    const rest = marked === null ? this.xs.length : this.xs.filter((x) => x <= marked).length;
    const at = idx ?? rest - 1;
    const where = this.words.at ?? ((x) => `After ${figure(x)} games`);
    this.at.textContent = this.xs.length ? where(this.xs[at]) : "No point yet";
    const isFree = idx === null || idx === undefined;
    // A line that ends earlier shows its own last point, with a note.
    const places = this.lines.map(({ values }) =>
      (values[at] ?? null) !== null || !isFree ? at : lastKnown(values.slice(0, rest)),
    );
    const wholes = this.lines.flatMap(({ isPart }, n) =>
      isPart && (this.lines[n].values[at] ?? null) !== null ? n : [],
    );
    const parts = shares(wholes.map((n) => /** @type {number} */ (this.lines[n].values[at])));
    this.lines.forEach((line, n) => {
      const value = line.values[places[n]] ?? null;
      const own = wholes.includes(n) ? parts[wholes.indexOf(n)] : value === null ? "\u2013" : share(value);
      const isEarlier = this.words.hasOwnEnds && value !== null && places[n] !== at;
      const { low = [], high = [] } = line;
      this.values[n].textContent = line.isBand
        ? between(known(low.slice(0, at + 1)), known(high.slice(0, at + 1)))
        : value === null || (low[places[n]] ?? null) === null
          ? `${own}${isEarlier ? ` (${where(this.xs[places[n]]).replace(/^After/, "after")})` : ""}`
          : `${own} (${share(/** @type {number} */ (low[places[n]]))} to ${share(/** @type {number} */ (high[places[n]]))})`;
    });
  }

  #key(/** @type {KeyboardEvent} */ event) {
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (event.key === "Escape" && this.isZoomed) return this.#unzoom();
    if (!(event.key in steps) || !this.plot || event.altKey || event.ctrlKey || event.metaKey) return undefined;
    event.preventDefault();
    const from = this.plot.cursor.idx ?? (event.key === "ArrowLeft" ? this.xs.length : -1);
    const at = Math.min(this.xs.length - 1, Math.max(0, from + steps[event.key]));
    this.plot.setCursor({ left: this.plot.valToPos(this.xs[at], "x"), top: 10 });
    this.told.textContent = [
      this.at.textContent,
      ...this.lines.map((line, n) => `${line.name} ${this.values[n].textContent}`),
    ].join(", ");
    return undefined;
  }
}

/** The index of the last value that is not null; -1 without one. */
function lastKnown(/** @type {(number|null)[]} */ values) {
  return values.reduce((/** @type {number} */ last, value, at) => (value === null ? last : at), -1);
}

/** The last value that is not null. */
function known(/** @type {(number|null)[]} */ values) {
  return values[lastKnown(values)];
}

function between(/** @type {number|null} */ low, /** @type {number|null} */ high) {
  return (low ?? null) === null
    ? "\u2013"
    : `${share(/** @type {number} */ (low))} to ${share(/** @type {number} */ (high))}`;
}

function tint(/** @type {string} */ colour, /** @type {number} */ opacity) {
  return colour.replace("rgb(", "rgba(").replace(")", `, ${opacity})`);
}

/** "12.3" of a hundred: the unit of every axis, legend and table of a curve. */
export function share(/** @type {number} */ value) {
  return (100 * value).toFixed(1);
}

function short(/** @type {number} */ n) {
  if (n >= 1e6) return `${+(n / 1e6).toFixed(2)} M`;
  return n >= 10_000 ? `${+(n / 1e3).toFixed(1)} k` : figure(n);
}
