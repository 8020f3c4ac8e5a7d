/** Types that the scripts share, for `make types` only; no page loads this file. Frames are those of docs/protocol.md. */

/** Every element of our pages is HTML or SVG. */
interface Element extends HTMLOrSVGElement {}

interface Window {
  /** vendor/uplot, loaded before the module. */
  uPlot: typeof import("uplot");
}

/** Data for uPlot: the x values, then the values of each line. */
type CurveData = import("uplot").AlignedData;
type CurveScale = import("uplot").Scale;

type Frame = import("./asker.js").Frame;

/** The state of a page's connection to its match, run, …: docs/architecture.md. */
type SocketStatus = "open" | "late" | "away" | "lost" | "asking";

/** The pieces in the cells of a board. */
type Pieces = (string | null)[];

type Point = { x: number; y: number };

/** A bead as it is drawn. */
type BeadLook = { colour: number | string; mark: string };

type Result = "win" | "draw" | "loss";

interface Cell {
  id: string;
  name: string;
  /** The mark that is printed in the cell. */
  mark?: string;
  /** The centre, in units of one cell. */
  x: number;
  y: number;
  zone?: string;
  /** The role whose goal is this cell. */
  goal?: string | null;
}

interface PieceLook {
  name?: string;
  shape: string;
  side: number;
  flipped?: boolean;
  /** Degrees, clockwise. */
  angle?: number;
}

/** The layout of a game's board. */
interface Layout {
  shape: string;
  columns: number;
  rows: number;
  /** Pairs of points that a line joins. */
  lines?: [number, number][];
  cells: Cell[];
  roles: string[];
  role_names: string[];
  /** The piece that stands for each side. */
  badges: string[];
  pieces?: Record<string, PieceLook>;
  /** Where the names of cells are shown: at the edges, in the cells, or not at all. */
  coordinates?: "" | "edges" | "cells";
  /** The prompt for each side to move. */
  prompts?: string[];
}

/** A box of a machine in the data of a page. */
interface MachineBox extends PrintedBox {
  ply: number;
  start: number[];
  beads: number[];
  /** How often each slot was drawn; `null` in an earlier state, for which the numbers are not stored. */
  draws: number[] | null;
  slots: PrintedSlot[];
  /** Probability that a game against random play opens the box at least once. */
  visit?: number | null;
  /** How often such a game opens the box on average; absent if no game can open a box twice. */
  openings?: number | null;
}

/** The boxes in the data of a page (packed.js). */
type PackedList = { pieces: Pieces; slots: PrintedSlot[]; boxes: PackedRow[] };
type PackedRow = [
  string,
  number,
  number,
  number[],
  number[],
  number[] | null,
  number[],
  number[],
  (number | null)?,
  (number | null)?,
];
/** A box whose present content is kept in `present` while an earlier state is shown. */
type KeptBox = MachineBox & {
  move_number: number;
  present: { draws: number[]; visit: number | null; openings?: number | null };
};

/** The last drawn bead: the position of its box, and its slot. */
type LastDrawn = { position: string; slot: number | null };

/** The data of a matchbox's picture. */
interface OpenedBox extends PrintedBox {
  slots: Slot[];
  /** The drawn slot. */
  slot: number | null;
  /** The machine's name. */
  title?: string;
  /** The symmetry by which the picture is turned; absent if the box is drawn as printed. */
  symmetry?: Placement;
  /** The symmetry from the printed box to the board, if the paths of the slots are those of moves on the board. */
  fit?: Placement;
  /** Whether the paths of the slots are those of moves on the board (match page) and not on the printed box. */
  boardMoves?: boolean;
}

/** The content of a board. Cells are indices, but `winningIds` has their ids. */
interface BoardView {
  board: (string | null)[];
  winningIds?: string[];
  lastCells?: number[];
  litCells?: number[];
  beads?: MoveBead[];
  /** The role whose next piece is shown on an empty cell under the pointer. */
  ghostRole?: string | null;
}

/** For each move, the ids of the cells that a player touches. */
type Paths = Record<string, string[]>;

/** Moves that do more than move a piece to a cell, with their effects in words. */
type Actions = Record<string, { name: string; piece?: string | null }>;

/** A line of a curve's picture. */
interface Line {
  name: string;
  colour: string;
  dash?: number[];
  isSampled?: boolean;
  /** Whether its values and those of the other parts add up to one. */
  isPart?: boolean;
  isBars?: boolean;
  /** Whether only the band between `low` and `high` is drawn. */
  isBand?: boolean;
  values: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}

/** The symmetry that turns a printed box to the orientation of the board. */
interface Placement {
  name: string;
  quarter_turns: number;
  mirrored: boolean;
  /** For each printed cell, the index of the cell of the board on which it lies. */
  cells: number[];
  /** Whether the symmetry is neither a turn nor a reflection. */
  exchanged: boolean;
}

interface Slot {
  slot: number;
  beads: number;
  colour: number;
  mark: string;
  /** The moves of the slot on the shown board or on the printed box, their names, and the cells that each touches. */
  moves: string[];
  names?: string[];
  paths: string[][];
  name?: string;
  printed?: string;
  printed_path?: string[];
  probability?: number;
  /** Beads that the match has added or removed. */
  delta?: number;
}

/** A slot of a box that was opened. */
type DrawnSlot = Slot & { probability: number; names: string[] };

/** A slot as it is printed. */
interface PrintedSlot extends Record<"mark" | "name" | "printed", string> {
  colour: number;
  moves: string[];
  names: string[];
  paths: string[][];
  printed_path: string[];
}

interface PrintedBox {
  position: string;
  board: (string | null)[];
  move_number?: number;
  url?: string;
}

/** An opened box and its drawn bead. */
interface Draw {
  ply: number;
  role: string;
  box: PrintedBox & { move_number: number };
  symmetry: Placement;
  slots: DrawnSlot[];
  /** `null` for an empty box. */
  slot: number | null;
  resigned: boolean;
  refilled: boolean;
  by_hand: boolean;
}

interface Change {
  ply: number;
  role: string;
  box: string;
  slot: number;
  delta: number;
  before: number;
  after: number;
  colour: number;
  mark: string;
  name: string;
  refill: boolean;
}

interface MachineBrief {
  id: number;
  name: string;
  url: string;
  learns: boolean;
  level: number;
  /** Whether the machine's rule counts levels. Only then is the level shown. */
  counts_level: boolean;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  win_rate: number;
  /** The part of `learning` with its data: `boxes`, `values`, or none (empty). */
  tells: string;
  /** Texts of the link to the machine's page, without and with its name. */
  see: string;
  see_named: string;
}

interface Seat {
  role: string;
  kind: string;
  name: string;
  taken: boolean;
  takes_over: boolean;
  hidden: boolean;
  machine: MachineBrief | null;
}

interface Lesson {
  role: string;
  machine: MachineBrief;
  result: "win" | "draw" | "loss";
  sentence: string;
  deed: string;
}

/** The values of a value-table machine at its last move. */
interface Thought {
  role: string;
  explored: boolean;
  epsilon: number;
  has_outlook: boolean;
  n_candidates: number;
  candidates: { name: string; chosen: boolean; value: number; outlook: number; total: number; ends: number }[];
}

interface ValueChange {
  ply: number;
  name: string;
  before: number;
  after: number;
}

/** The draws and lessons of the machines in a match. */
interface Learning {
  draws: Draw[];
  lesson: { result: string; sentence: string } | null;
  lessons: Lesson[];
  changes: Change[];
  parts?: { thoughts: PartsThought[]; changes: WeightsLearnt[] };
  values?: { thought: Thought | null; changes: ValueChange[]; plies: { role: string }[] };
}

interface Played {
  ply: number;
  role: string;
  move: string;
  /** The ids of the cells that the move touched. */
  path: string[];
  name: string;
  piece?: string | null;
}

/** Data of one board of a match, current or earlier. */
interface BoardState {
  board: (string | null)[];
  notices: Record<string, string>;
  captured: Record<string, string[]>;
}

interface PastBoard extends BoardState {
  ply: number;
  last_cells: string[];
}

type Outcome = { winner: string | null; termination: string; reason: string };

/** A match that machines have learnt from. */
type LearntMatch = MatchState & { learning: Learning };
/** A seat with a machine. */
type MachineSeat = Seat & { machine: MachineBrief };

/** An error of the protocol. */
type ProtocolError = { code: string; detail?: string; retry_after_s?: number };

/** The state of a match. */
interface MatchState extends BoardState {
  code: string;
  number: number;
  version: number;
  ply: number;
  status: "waiting" | "playing" | "finished";
  position: string;
  turn: string | null;
  thinking: boolean;
  exhibition: boolean;
  /** `by` is the role that offers a draw, or `null` before an offer. `draw_offer` is `null` if no draw can be agreed. */
  draw_offer: { by: string | null } | null;
  can_swap: boolean;
  seats: Seat[];
  moves: Played[];
  paths: Paths;
  actions: Actions;
  winning_cells: string[];
  outcome: Outcome | null;
  learning: Learning | null;
}

/** The viewer of a match. */
interface Viewer {
  /** `null` for a spectator. */
  role: string | null;
  /** The roles of all seats that the viewer holds. */
  roles?: string[];
  isHost: boolean;
  layout: Layout;
}

/** The bead of a move on a board. */
interface MoveBead {
  /** Indices of the cells that the move touches. */
  cells: number[];
  colour: number;
  mark: string;
  probability?: number;
  /** The probability in whole per cent, as a text for the reader. */
  chance?: string;
  kind?: string;
}

/** A board as a sum of named parts, as seen by the side that has just moved. */
interface PartsShown {
  sum: number;
  value: number;
  groups: { name: string; value: number; parts: { name: string; value: number; weight: number; amount: number }[] }[];
}

/** The board after a move that was played, with a sentence and the best moves. */
interface PartsThought extends PartsShown, Record<"words" | "role" | "url", string> {
  ply: number;
  depth: number;
  n_moves: number;
  moves: { name: string; board: number; found: number | null; chosen: boolean }[];
}

/** A weight before and after a match. */
type NewWeight = { name: string; before: number; after: number };
/** The weights of a machine that a match changed. */
type WeightsLearnt = { role: string; url: string; n_changed: number; weights: NewWeight[] };

type LearnRule = Record<string, number | string | boolean | number[] | null>;

/** The server's reading of an address of "Watch it learn" (docs/learn.md). */
interface LearnReading {
  game: string;
  side: string;
  teacher: string;
  preset: string;
  rule: LearnRule;
  seed: string;
  against: string;
  games: number;
  beside: { preset: string; rule: LearnRule } | null;
  address: string;
  problems: LearnProblem[];
  /** Lines of Python that make the same machine. */
  code: string;
}

interface LearnProblem {
  field: string;
  detail: string;
}

/** Points of a curve: numbers of games, and the values after them. */
interface LearnPoints {
  games: number[];
  score: number[];
}

/** The bead that was drawn from a box. `slot` is `null` if the box was empty. */
interface LearnDraw {
  box: number;
  slot: number | null;
  beads: number[];
}

interface LearnPly {
  board: (string | null)[];
  cells: number[];
  move: string | null;
  name: string;
  draw: LearnDraw | null;
}

interface LearnGame {
  result: "win" | "draw" | "loss";
  resigned: boolean;
  plies: LearnPly[];
  changes: { box: number; after: number[]; deltas: number[] }[];
}

/** A machine after a number of games; `done` once it has reached the requested number. */
interface LearnAnswer {
  games: number;
  wins: number;
  draws: number;
  losses: number;
  done: boolean;
  beads: Int32Array;
  curve: LearnPoints;
  /** The exact chance that a game against the opponent of the curve reaches the ply limit, if positions can return. */
  unfinished: number | null;
  game: LearnGame | null;
}

/** Quantiles of 200 machines; `done` once all are included. */
interface LearnBand extends Record<"games" | "p5" | "p25" | "p50" | "p75" | "p95", number[]> {
  done: boolean;
}

/** A rule as the kernel reads it. */
type LearnSettings = Record<"win" | "draw" | "loss" | "floor", number> &
  Record<"box_set" | "when_empty" | "empty_opening" | "final_win" | "final_loss", string> &
  Record<"repeated_visits" | "unfinished", string> &
  Record<"merge_symmetric_moves" | "only_last" | "punish_previous_on_resign", boolean> &
  Record<"cap", number | null> & { initial: number[]; initial_by: "move_number" | "ply" | "cell" };

/** The plan of a machine: `graph` names the graph of a game, `side` is 0 or 1. */
type LearnPlan = { graph: string; side: number; teacher: string; rule: LearnSettings };

/** A graph as the server sends it; a text of digits has one for each node or edge (learning/selectors/graphs.py). */
interface LearnView extends Record<"side" | "n_moves" | "end" | "step" | "turn" | "ply" | "slot" | "bead", string> {
  boards: string[];
  steps: { move: string; name: string; cells: number[]; changes: [number, string][] }[];
  turns: { steps: number[]; cells: number[] }[];
  suffixes: string[];
  replies: Record<string, string>;
  start: string;
  start_turn: number;
  pieces: Record<string, string | null>;
  beads: [number, string][];
  /** In games with positions that can return: the plies after which a game stops, and the code of its result. */
  limit?: number;
  endless?: number;
}

type LearnSlot = { members: number[]; printed: number; size: number; initial: number };
type LearnBox = { node: number; refills: boolean; slots: LearnSlot[] };
