/** What the scripts hand each other, for `make types` alone: nothing loads it. Wire forms are those of docs/protocol.md. */

/** Every element of our pages is HTML or SVG. */
interface Element extends HTMLOrSVGElement {}

interface Window {
  /** vendor/uplot, loaded before the module. */
  uPlot: typeof import("uplot");
}

interface Cell {
  id: string;
  name: string;
  /** In units of one cell; the centre. */
  x: number;
  y: number;
  zone?: string;
  /** The role whose goal it is. */
  goal?: string | null;
}

interface PieceLook {
  name: string;
  shape?: string;
  side?: number;
  flipped?: boolean;
  /** Degrees, clockwise. */
  angle?: number;
}

/** How a game's board is drawn and told. */
interface Layout {
  shape: string;
  columns: number;
  rows: number;
  cells: Cell[];
  roles: string[];
  role_names: string[];
  pieces?: Record<string, PieceLook>;
}

/** A box of a machine, as its pages carry it. */
interface MachineBox extends PrintedBox {
  ply: number;
  start: number[];
  beads: number[];
  /** `null` where the past does not tell. */
  draws: number[] | null;
  slots: { colour: number; mark: string; moves: string[]; paths: string[][] }[];
  /** How likely a game against random play opens it. */
  visit?: number | null;
}

/** What is drawn as a matchbox. */
interface OpenedBox extends PrintedBox {
  slots: Slot[];
  /** The one drawn. */
  slot: number | null;
  /** The machine's name; how the box is turned, where it is not as printed; how its moves are, where they are the board's. */
  title?: string;
  symmetry?: Placement;
  fit?: Placement;
  /** Whether the paths of the slots are those of moves on the board (match page) and not on the printed box. */
  boardMoves?: boolean;
}

/** What a board shows; cells by their indices, but for those that have won. */
interface BoardView {
  board: (string | null)[];
  winning?: string[];
  last?: number[];
  lit?: number[];
  beads?: MoveBead[];
  /** The piece that would be put where the pointer is. */
  ghost?: string | null;
}

/** The cells that a person touches, by move. */
type Paths = Record<string, string[]>;

/** Moves that are no plain ones, and what they do. */
type Actions = Record<string, { name: string; piece?: string | null }>;

/** A line of a curve's picture. */
interface Line {
  name: string;
  colour: string;
  dash?: number[];
  isSampled?: boolean;
  isBars?: boolean;
  /** Nothing but what lies between `low` and `high`. */
  isBand?: boolean;
  values: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}

/** What turns a printed box to lie as the board does. */
interface Placement {
  name?: string;
  quarter_turns: number;
  mirrored: boolean;
}

interface Slot {
  slot: number;
  beads: number;
  colour: number;
  mark: string;
  /** On the board that is seen, or on the printed box: what they are called, and the cells that each touches. */
  moves: string[];
  names?: string[];
  paths: string[][];
  name?: string;
  printed?: string;
  probability?: number;
  /** Beads that the match has added or taken. */
  delta?: number;
}

interface PrintedBox {
  position: string;
  board: (string | null)[];
  move_number?: number;
  url?: string;
}

/** A box that was opened, and what came out. */
interface Draw {
  ply: number;
  role: string;
  box: PrintedBox;
  symmetry: Placement;
  slots: Slot[];
  /** `null` of a box that was empty. */
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
  games: number;
  wins: number;
  draws: number;
  losses: number;
  win_rate: number;
  /** Which part of `learning` tells of it: `boxes`, `values`, or none (empty). */
  tells: string;
  /** What leads to its page, in words, without its name and with. */
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

/** What a machine that keeps values thought of its last move. */
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

/** What the machines at the board drew and learnt. */
interface Learning {
  draws: Draw[];
  lesson: { result: string; sentence: string } | null;
  lessons: Lesson[];
  changes: Change[];
  values?: { thought: Thought | null; changes: ValueChange[]; plies: { role: string }[] };
}

interface Played {
  ply: number;
  role: string;
  move: string;
  /** The cells that it touched. */
  path: string[];
  name: string;
  piece?: string | null;
}

/** What is said of one board of a match, be it that of now or an earlier one. */
interface BoardState {
  board: (string | null)[];
  notices: Record<string, string>;
  captured: Record<string, string[]>;
}

interface PastBoard extends BoardState {
  ply: number;
  last_cells: string[];
}

/** The state of a match. */
interface MatchState extends BoardState {
  number: number;
  version: number;
  ply: number;
  status: "waiting" | "playing" | "finished";
  position: string;
  turn: string | null;
  thinking: boolean;
  exhibition: boolean;
  can_swap: boolean;
  seats: Seat[];
  moves: Played[];
  paths: Paths;
  actions: Actions;
  winning_cells: string[];
  outcome: { winner: string | null; termination: string; reason: string } | null;
  learning: Learning | null;
}

/** Who looks at a match. */
interface Viewer {
  /** `null` of who watches. */
  role: string | null;
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
  kind?: string;
}

/** A board as a sum of named parts, for whoever has just moved. */
interface PartsShown {
  sum: number;
  value: number;
  groups: { name: string; value: number; parts: { name: string; value: number; weight: number; amount: number }[] }[];
}
