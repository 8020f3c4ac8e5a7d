/** Words a child understands: counts, chances, and what each error code of the protocol means. */

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];

/** "one bead", "three beads", "12 beads". */
export function count(n, noun, nouns = `${noun}s`) {
  return `${NUMBERS[n] ?? figure(n)} ${n === 1 ? noun : nouns}`;
}

const FIGURES = new Intl.NumberFormat("en-GB");

/** "1,063": a number in figures, in groups of three. */
export function figure(n) {
  return FIGURES.format(n);
}

/** "first", "second", … and figures beyond the ninth. */
export function ordinal(n) {
  return ORDINALS[n] || `${n}th`;
}

/** A chance between 0 and 1 as a percentage; never rounded to 0 or 100 unless it is. */
export function percent(chance) {
  const value = 100 * chance;
  if (value === 0 || value === 100) return `${value}\u00a0%`;
  if (value < 0.1) return "< 0.1\u00a0%";
  if (value > 99.9) return "> 99.9\u00a0%";
  return `${value.toFixed(value < 10 ? 1 : 0)}\u00a0%`;
}

/** The same for a column of chances: each with one decimal, so that the figures stand under each other. */
export function tenths(chance) {
  return chance > 0 && chance < 0.0005 ? "< 0.1\u00a0%" : `${(100 * chance).toFixed(1)}\u00a0%`;
}

/** "top left", "top left or top right", "a, b or c". */
export function either(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** The first letter made large, for the start of a sentence; a square such as a1 keeps its name. */
export function sentence(text) {
  return /^[a-z]\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

const ERRORS = {
  invalid_move: "That is no move on this board. Choose another one.",
  illegal_move: "You cannot play that here. Choose another move.",
  not_your_turn: "It is not your turn yet. Wait for the other side to move.",
  stale_ply: "The board had already changed. Have a look, then choose again.",
  match_finished: "This match is over. You can play again.",
  match_waiting: "The other player is not here yet. Send them the link.",
  not_the_host: "You are watching. Only whoever opened this match says when they move.",
  not_an_exhibition: "Somebody plays here, so nobody else can say when to move.",
  match_not_finished: "Finish this match first, or give up.",
  not_a_player: "You are watching this match, so you cannot move in it.",
  room_not_found: "There is no match with this code any more. Start a new one from the first page.",
  room_full: "Both seats are taken. You can watch.",
  cannot_swap: "This machine plays one side only, so the sides stay as they are.",
  machine_not_found: "That machine is gone. Start a new match from the first page.",
  machine_wrong_side: "That machine plays the other side.",
  unavailable: "The site cannot reach its memory just now. Your match is kept: try again in a few seconds.",
  busy: "Very many people are playing just now. What you did waits, and is sent again by itself in a moment.",
  too_many_frames: "That was very quick. Wait a moment, then try again.",
};

/**
 * An error of the protocol in words; an unknown code keeps the server's own sentence.
 *
 * @param {{code?: string, detail?: string}} error
 */
export function errorWords({ code, detail } = {}) {
  return ERRORS[code] ?? `Nothing changed. The server said: ${detail || code || "something went wrong"}`;
}
