/** The page that tells why a learnt value moves as it does: the parts of the board as it is, and after its choice. */

import { byId, pageData } from "./dom.js";
import { render } from "./lit.js";
import { partsList } from "./parts.js";

for (const name of ["here", "choice"]) {
  const board = pageData(`parts-${name}`);
  if (board) render(partsList(board), byId(name));
}
