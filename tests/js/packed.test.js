import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../static/js/packed.js";

test("an unpacked box has its pieces and slots", () => {
  const slots = [
    { colour: 0, mark: "A", moves: ["1"] },
    { colour: 4, mark: "E", moves: ["5"] },
  ];
  const packed = {
    pieces: [null, "X", "O"],
    slots,
    boxes: [["X.O", 2, 2, [3], [4], [7], [1, 0, 2], [1], 0.25, 1.5]],
  };
  const [box] = unpack(packed, 12);
  assert.deepEqual(box.board, ["X", null, "O"]);
  assert.deepEqual(box.slots, [slots[1]]);
  assert.equal(box.url, "/machines/12/boxes/X.O");
  assert.deepEqual(box.present, { beads: [4], draws: [7], visit: 0.25, openings: 1.5 });
  assert.deepEqual([box.move_number, box.ply, box.start], [2, 2, [3]]);
});
