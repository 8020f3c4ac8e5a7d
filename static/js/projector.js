/** Pages of the projector of a class: how many rows one column holds, and how long a page is shown. */

export const ROWS_OF_COLUMN = 20;
export const PAGE_MS = 8_000;
