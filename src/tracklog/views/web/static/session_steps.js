// From row to row by keys: to the next one, to the next prompt, to the next error.
//
// Rules of this room
//   1. Who looks for what is not there stays where they are, and is told.
//   2. What is loaded is looked at here. Beyond that the server says which line is next, and there is one jump.

import { goTo, isThere, n, nGone, peek, select, size, stayHere, stretch } from "./window.js";
import { tell } from "./session_parts.js";

const rows = document.getElementById("rows");
const AT_ONCE = 400; // lines, the most that the server gives
const MOST_PARTS = 10; // that are looked through while the index does not know the session

const BAD_CALL = ":scope > summary > :is(.v-error, .v-timed_out, .v-lost)"; // itself, not one of a subagent within it

export const PROMPT = { name: "prompt", fits: (row) => row.classList.contains("k-prompt") };
export const ERROR = {
  name: "error",
  fits: (row) => row.classList.contains("is-bad") || row.querySelector(BAD_CALL) !== null,
};

// Rows of a subagent that is shown within one of ours have numbers of their own: steps and places pass them by.
export const shown = () => [...rows.querySelectorAll(".win > .row")].filter((row) => row.checkVisibility());
export const here = () => document.activeElement?.closest(".row") ?? rows.querySelector(".is-here");

/** The row that is read: the first one below the head of the page. */
export function nearest() {
  return shown().find((row) => row.getBoundingClientRect().bottom > 140) ?? null;
}

/** To the next row, or to the one before. */
export async function step(by) {
  const row = start();
  const near = stretch(row);
  const all = near.rows.filter((one) => one.checkVisibility());
  const beside = all[all.indexOf(row) + by];
  if (beside) return choose(beside);
  let next = by > 0 ? near.last + 1 : near.first - 1;
  for (let part = 0; part < MOST_PARTS && next >= 1 && next <= n; part++) {
    const going = goTo(next, { focus: false, block: by > 0 ? "end" : "start", unfolds: false });
    const mine = nGone;
    await going;
    if (mine !== nGone) return;
    if (!isThere(next)) return tell(UNHEARD.why);
    const there = shown().filter((one) => windowOf(one) === windowAt(next));
    const found = by > 0 ? there[0] : there.at(-1);
    if (found) return choose(found);
    next += by * size; // all of them are folded away
  }
  tell(by > 0 ? "This is the last one" : "This is the first one");
}

const windowAt = (seq) => Math.floor((seq - 1) / size);
const windowOf = (row) => windowAt(Number(row.dataset.seq));

/** To the next row of some kind, or to the one before. */
export async function seek(by, kind) {
  const row = start();
  const near = stretch(row);
  const found = onTheWay(near.rows, row, by).find((one) => one.checkVisibility() && kind.fits(one));
  if (found) return choose(found);
  const mine = nGone;
  const { seq, why } = await beyond(by > 0 ? near.last : near.first, by, kind);
  if (mine !== nGone) return;
  if (!seq) return tell(why ?? `no ${by > 0 ? "further" : "earlier"} ${kind.name}`);
  const there = await goTo(seq, { focus: false });
  const meant = [...rows.querySelectorAll(`.win > .row[data-seq="${seq}"]`)].find(kind.fits) ?? there;
  if (there) choose(meant);
}

function start() {
  return here()?.closest(".win > .row") ?? nearest();
}

/** The rows behind one, or those before it, nearest first. */
function onTheWay(all, row, by) {
  const at = all.indexOf(row);
  return by > 0 ? all.slice(at + 1) : all.slice(0, Math.max(at, 0)).reverse();
}

const UNHEARD = { why: "The server does not answer" };

/**
 * The line (`seq`) of the next one behind what is loaded, or before it; if there is none, `why`, unless that is plain.
 */
async function beyond(edge, by, kind) {
  if (by > 0 ? edge >= n : edge <= 1) return {};
  const { address, query, left } = rows.dataset;
  const way = by > 0 ? "after" : "before";
  const answer = await fetch(`${address}/next${query}what=${kind.name}&${way}=${edge}&left=${left}`).catch(() => null);
  const told = answer?.ok ? await answer.json().catch(() => null) : null;
  if (!told) return UNHEARD;
  return told.seq || told.is_sure ? told : lookThrough(edge, by, kind);
}

/** The same by looking at the rows, as far as is bearable. */
async function lookThrough(edge, by, kind) {
  for (let part = 0; part < MOST_PARTS; part++) {
    const from = by > 0 ? edge + 1 : Math.max(edge - AT_ONCE, 1);
    const count = by > 0 ? AT_ONCE : edge - from;
    if (from > n || count < 1) return {};
    const some = await peek(from, count);
    if (some === null) return UNHEARD;
    const found = by > 0 ? some.find(kind.fits) : some.findLast(kind.fits);
    if (found) return { seq: Number(found.dataset.seq) };
    edge = by > 0 ? from + count - 1 : from;
  }
  return { why: `no ${kind.name} in ${(MOST_PARTS * AT_ONCE).toLocaleString("en-US")} lines` };
}

function choose(row) {
  stayHere();
  select(row);
  row.scrollIntoView({ block: "nearest", behavior: "instant" });
}
