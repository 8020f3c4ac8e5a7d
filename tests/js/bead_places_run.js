/** Draws the boards of tests/games/test_bead_places.py: on stdin a layout and boards, on stdout the places of their beads. */

import { readFileSync } from "node:fs";

/** An element that keeps its attributes and children. */
class Element {
  constructor() {
    this.attributes = {};
    this.children = [];
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  append(...children) {
    this.children.push(...children);
  }
}

globalThis.document = { createElementNS: () => new Element() };
const { divideBeads, drawDiagram } = await import("../../static/js/diagram.js");

/** Returns x, y and radius of each bead in a picture. */
function beadsIn({ attributes, children }) {
  if (!attributes?.class?.startsWith("bead ")) return (children ?? []).flatMap(beadsIn);
  const [x, y] = attributes.transform.match(/-?[\d.]+/g).map(Number);
  return [[x, y, Number(children[0].attributes.r)]];
}

const { layout, boards } = JSON.parse(readFileSync(0, "utf8"));
const places = boards.map(({ pieces, moves }) => beadsIn(drawDiagram(layout, pieces, divideBeads(moves))));
process.stdout.write(JSON.stringify(places));
