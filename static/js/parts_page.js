/** The page that explains a move by a learnt value: the parts of the board before and after the move. */

import { byId, pageData } from "./dom.js";
import { render } from "./lit.js";
import { partsList } from "./parts.js";

for (const name of ["here", "choice"]) {
  const board = pageData(`parts-${name}`);
  if (board) render(partsList(board), byId(name));
}
