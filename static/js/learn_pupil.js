/** The learning machine as far as it is known: its boxes, its curve and its bands. Independent of the page. */

import { Course } from "./course.js";
import { dash } from "./curve.js";
import { unpack } from "./packed.js";

/** A curve with the points of an answer in it. @param {LearnPoints} known @param {LearnAnswer} answer @returns {LearnPoints} */
export function joined(known, { curve: more, games: end }) {
  const first = more.games[0] ?? end + 1;
  const place = (/** @type {number} */ at) => (at < 0 ? known.games.length : at);
  const upTo = place(known.games.findIndex((games) => games >= first));
  const past = place(known.games.findIndex((games) => games > end));
  /** @type {(old: number[], fresh: number[]) => number[]} */
  const join = (old, fresh) => [...old.slice(0, upTo), ...fresh, ...old.slice(past)];
  return { games: join(known.games, more.games), score: join(known.score, more.score) };
}

export class Pupil {
  /**
   * @param {Course} course what it learns
   * @param {MachineBox[]} boxes
   * @param {LearnAnswer} machine how it stands
   */
  constructor(course, boxes, machine) {
    this.course = course;
    this.boxes = boxes;
    this.machine = machine;
    /** @type {LearnPoints} the exact curve as far as it has been seen: where its points lie, and how high */
    this.points = { games: [], score: [] };
    /** @type {LearnPoints} the same of the machine with the second rule, which has the same teacher and the same luck */
    this.second = { games: [], score: [] };
    /** @type {{band: LearnBand|null, beside: LearnBand|null}} */
    this.bands = { band: null, beside: null };
    this.accept(machine);
  }

  /**
   * The machine of another rule, teacher or seed after as many games; its boxes are those of the one before if they are alike.
   *
   * @param {LearnReading} reading
   * @param {Pupil|null} before
   * @param {string[]} cells the ids of the cells of the board
   */
  static async open(reading, before, cells) {
    const course = new Course(reading);
    const games = before ? before.machine.games : reading.games;
    const packed = before?.course.set === course.set ? null : await course.boxes(cells);
    const answer = await course.machine(games, -1, games > 0);
    return new Pupil(course, packed || !before ? unpack(packed, null) : before.boxes, answer);
  }

  /** Takes an answer in; returns the places of the boxes that have changed. @param {LearnAnswer} answer */
  accept(answer) {
    /** @type {number[]} */
    const changed = [];
    let from = 0;
    this.boxes.forEach((box, at) => {
      const start = from;
      from += box.start.length;
      if (box.beads.every((n, slot) => n === answer.beads[start + slot])) return;
      box.beads = Array.from(answer.beads.slice(start, from));
      changed.push(at);
    });
    this.machine = answer;
    this.points = joined(this.points, answer);
    return changed;
  }

  /** The last known point before this many games and before the machine's present; the answer brings later ones. @param {number} games */
  since(games, known = this.points) {
    return known.games.filter((at) => at < Math.min(games, this.machine.games)).at(-1) ?? -1;
  }

  /** Advances to a number of games, or as far as one request can. @param {number} games */
  ask(games, moves = false) {
    return this.course.machine(games, this.since(games), moves);
  }

  /** Whether the machine with the second rule has something to catch up with. @param {LearnReading} reading */
  isBehind(reading) {
    return Boolean(reading.beside) && !this.second.games.includes(this.machine.games);
  }

  /** As many games of the machine with the second rule, or as many as can be played at once. @param {LearnReading} reading */
  async follow(reading) {
    const other = new Course(reading, reading.beside?.rule);
    const { games } = this.machine;
    this.second = joined(this.second, await other.machine(games, this.since(games, this.second)));
  }

  /** The next part of a band; whether there was one to ask for. @param {LearnReading} reading */
  async fetchBand(reading) {
    const { bands } = this;
    if (!bands.band?.done) bands.band = await this.course.band();
    else if (reading.beside && !bands.beside?.done)
      bands.beside = await new Course(reading, reading.beside.rule).band();
    else return false;
    return true;
  }

  /** The curves and bands over all places where one of them has a point. @returns {{xs: number[], lines: Line[]}} */
  lines() {
    const { band, beside } = this.bands;
    const places = [this.points, this.second, band, beside].flatMap((one) => one?.games ?? []);
    const xs = [...new Set(places)].sort((a, b) => a - b);
    /** @type {(games: number[], values: number[]) => (number|null)[]} */
    const over = (games, values) => {
      const at = new Map(games.map((x, n) => [x, values[n]]));
      return xs.map((x) => at.get(x) ?? null);
    };
    /** @type {(games: LearnPoints, name: string, colour: string) => Line} */
    const line = ({ games, score }, name, colour) => ({ name, colour, values: over(games, score) });
    /** @type {(band: LearnBand|null, colour: string, name: string, nth: number) => Line[]} */
    const bandLines = (one, colour, name, nth) => {
      if (!one) return [];
      /** @type {(part: number[]) => (number|null)[]} */
      const part = (values) => over(one.games, values);
      const half = { values: part(one.p50), low: part(one.p25), high: part(one.p75), dash: dash(nth) };
      const most = { values: part([]), low: part(one.p5), high: part(one.p95), isBand: true };
      return [
        { name: `${name}: median and half of them`, colour, ...half },
        { name: `${name}: 90 of 100`, colour, ...most },
      ];
    };
    const second = line(this.second, "The second rule, with the same seed", "1");
    const lines = [
      line(this.points, "This machine", "0"),
      ...(this.second.games.length ? [{ ...second, dash: dash(5) }] : []),
      ...bandLines(band, "ink", "200 like it", 1),
      ...bandLines(beside, "1", "200 with the second rule", 2),
    ];
    return { xs, lines };
  }
}
