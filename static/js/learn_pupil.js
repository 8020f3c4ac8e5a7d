/** The data that the page has received about the learning machine: its boxes, its curve and its bands. */

import { Training } from "./course.js";
import { dashPattern } from "./curve.js";
import { unpack } from "./packed.js";

/**
 * Returns a curve in which the points of an answer replace all points between the first of them and the number of games
 * of the answer.
 *
 * @param {LearnPoints} known @param {LearnAnswer} answer @returns {LearnPoints}
 */
export function mergePoints(known, { curve: received, games: end }) {
  const firstGames = received.games[0] ?? end + 1;
  const indexOrLength = (/** @type {number} */ index) => (index < 0 ? known.games.length : index);
  const from = indexOrLength(known.games.findIndex((games) => games >= firstGames));
  const to = indexOrLength(known.games.findIndex((games) => games > end));
  /** @type {(old: number[], fresh: number[]) => number[]} */
  const replace = (old, fresh) => [...old.slice(0, from), ...fresh, ...old.slice(to)];
  return { games: replace(known.games, received.games), score: replace(known.score, received.score) };
}

export class Learner {
  /**
   * @param {Training} training the machine's rule, teacher and seed
   * @param {MachineBox[]} boxes
   * @param {LearnAnswer} answer the worker's first answer about the machine
   */
  constructor(training, boxes, answer) {
    this.training = training;
    this.boxes = boxes;
    /** The latest answer of the worker about the machine. */
    this.latest = answer;
    /** @type {LearnPoints} the received points of the exact curve */
    this.points = { games: [], score: [] };
    /** @type {LearnPoints} the points of a machine with the second rule, the same teacher and the same seed */
    this.secondPoints = { games: [], score: [] };
    /** @type {{band: LearnBand|null, beside: LearnBand|null}} */
    this.bands = { band: null, beside: null };
    this.accept(answer);
  }

  /**
   * Returns the machine of new settings, after as many games as the previous one. It reuses the boxes of the previous
   * machine if the new settings lead to the same boxes.
   *
   * @param {LearnReading} settings
   * @param {Learner|null} previous
   * @param {string[]} cells the ids of the cells of the board
   */
  static async open(settings, previous, cells) {
    const training = new Training(settings);
    const games = previous ? previous.latest.games : settings.games;
    const packed = previous?.training.boxesKey === training.boxesKey ? null : await training.requestBoxes(cells);
    const answer = await training.requestMachine(games, -1, games > 0);
    return new Learner(training, packed || !previous ? unpack(packed, null) : previous.boxes, answer);
  }

  /** Stores an answer of the worker; returns the indices of the boxes that have changed. @param {LearnAnswer} answer */
  accept(answer) {
    /** @type {number[]} */
    const changedIndices = [];
    let end = 0;
    this.boxes.forEach((box, index) => {
      const start = end;
      end += box.start.length;
      if (box.beads.every((n, slot) => n === answer.beads[start + slot])) return;
      box.beads = Array.from(answer.beads.slice(start, end));
      changedIndices.push(index);
    });
    this.latest = answer;
    this.points = mergePoints(this.points, answer);
    return changedIndices;
  }

  /**
   * Returns the number of games of the last known point before both `games` and the machine's present, or −1. A request
   * with this number brings the later points.
   *
   * @param {number} games
   */
  lastKnownGames(games, known = this.points) {
    return known.games.filter((point) => point < Math.min(games, this.latest.games)).at(-1) ?? -1;
  }

  /**
   * Requests the machine after a number of games. The answer may have fewer games, because the worker's time for a
   * request is limited.
   *
   * @param {number} games
   * @param {boolean} withGame whether the answer contains the last game
   */
  request(games, withGame = false) {
    return this.training.requestMachine(games, this.lastKnownGames(games), withGame);
  }

  /**
   * Returns whether the curve of the second rule lacks a point at the machine's present.
   *
   * @param {LearnReading} settings
   */
  isBehind(settings) {
    return Boolean(settings.beside) && !this.secondPoints.games.includes(this.latest.games);
  }

  /**
   * Extends the curve of the second rule towards the machine's present, by one request.
   *
   * @param {LearnReading} settings
   */
  async updateSecond(settings) {
    const second = new Training(settings, settings.beside?.rule);
    const { games } = this.latest;
    this.secondPoints = mergePoints(
      this.secondPoints,
      await second.requestMachine(games, this.lastKnownGames(games, this.secondPoints)),
    );
  }

  /** Requests the next part of a band; returns false if both bands are complete. @param {LearnReading} settings */
  async fetchBand(settings) {
    const { bands } = this;
    if (!bands.band?.done) bands.band = await this.training.requestBand();
    else if (settings.beside && !bands.beside?.done)
      bands.beside = await new Training(settings, settings.beside.rule).requestBand();
    else return false;
    return true;
  }

  /** Returns the curves and bands over the union of their numbers of games. @returns {{xs: number[], lines: Line[]}} */
  lines() {
    const { band, beside } = this.bands;
    const allGames = [this.points, this.secondPoints, band, beside].flatMap((series) => series?.games ?? []);
    const xs = [...new Set(allGames)].sort((a, b) => a - b);
    /** @type {(games: number[], values: number[]) => (number|null)[]} */
    const overXs = (games, values) => {
      const valueAt = new Map(games.map((x, index) => [x, values[index]]));
      return xs.map((x) => valueAt.get(x) ?? null);
    };
    /** @type {(points: LearnPoints, name: string, colour: string) => Line} */
    const line = ({ games, score }, name, colour) => ({ name, colour, values: overXs(games, score) });
    /** @type {(band: LearnBand|null, colour: string, name: string, dashIndex: number) => Line[]} */
    const bandLines = (quantiles, colour, name, dashIndex) => {
      if (!quantiles) return [];
      /** @type {(values: number[]) => (number|null)[]} */
      const valuesAtXs = (values) => overXs(quantiles.games, values);
      const { p5, p25, p50, p75, p95 } = quantiles;
      const middleHalf = {
        values: valuesAtXs(p50),
        low: valuesAtXs(p25),
        high: valuesAtXs(p75),
        dash: dashPattern(dashIndex),
      };
      const middle90 = { values: valuesAtXs([]), low: valuesAtXs(p5), high: valuesAtXs(p95), isBand: true };
      return [
        { name: `${name}: median and half of them`, colour, ...middleHalf },
        { name: `${name}: 90 of 100`, colour, ...middle90 },
      ];
    };
    const secondLine = line(this.secondPoints, "The second rule, with the same seed", "1");
    const lines = [
      line(this.points, "This machine", "0"),
      ...(this.secondPoints.games.length ? [{ ...secondLine, dash: dashPattern(5) }] : []),
      ...bandLines(band, "ink", "200 like it", 1),
      ...bandLines(beside, "1", "200 with the second rule", 2),
    ];
    return { xs, lines };
  }
}
