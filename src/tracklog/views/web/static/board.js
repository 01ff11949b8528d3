// The board without reload: rows are replaced one by one where they say something else. They change their places only
// while nobody points at one or is in one; until then a button says how many would.

import { listen, onReset } from "./events.js";
import { count } from "./favicon.js";
import { rows, say } from "./keys.js";
import { refresh } from "./times.js";

const PAUSE_MS = 100; // between two questions: what comes together is shown together
const ANYWAY_MS = 60_000; // the pictures move on by a minute
const held = document.querySelector(".b-held");
const button = document.getElementById("show-held");

let asking = false;
let again = false;
let waiting = null; // the board that is shown when nobody points at it

async function renew() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  again = false;
  const html = await asked().catch(() => null); // the dot says that the server is gone
  if (html) take(html);
  await new Promise((go) => setTimeout(go, PAUSE_MS));
  asking = false;
  if (again) renew();
}

async function asked() {
  const answer = await fetch(`/_/board${location.search}`);
  return answer.ok ? answer.text() : null;
}

function take(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const next = made.content.getElementById("board");
  count(Number(next.dataset.waiting));
  if (!isMoved(next) && frame(document.getElementById("board")) === frame(next)) change(next);
  else if (isUsed() && isMoved(next)) hold(next);
  else show(next);
}

// Somebody points at a row, or is in one. A finger points at nothing: what it touched last only seems to be under it.
function isUsed() {
  const pointed = matchMedia("(hover: hover)").matches ? ", .b-list:hover" : "";
  return document.querySelector(`.b-row:focus-within${pointed}`) !== null;
}

function order(board) {
  return [...board.querySelectorAll(".b-row")].map((row) => `${row.closest("section").id} ${row.id}`);
}

function isMoved(next) {
  return order(document.getElementById("board")).join() !== order(next).join();
}

function frame(board) {
  return [...board.querySelectorAll("h2, .b-problems, .b-empty, .b-none, .b-fold, .empty")].map((one) => one.textContent).join();
}

/** Puts a new board in the place of the old one; rows that say the same stay the very elements that they were. */
function show(next) {
  waiting = null;
  held.hidden = true;
  const focus = focused();
  const words = selected();
  const before = document.getElementById("board");
  for (const row of next.querySelectorAll(".b-row")) {
    const known = document.getElementById(row.id);
    if (known?.dataset.mark === row.dataset.mark) row.replaceWith(known);
    else if (known) keepOpen(known, row);
  }
  before.replaceWith(next);
  refresh(next);
  restore(focus);
  reselect(words);
}

/** Shows what rows say in the places where they are; what is marked elsewhere stays marked. */
function change(next) {
  waiting = null;
  held.hidden = true;
  replace(next);
}

function replace(next) {
  for (const row of next.querySelectorAll(".b-row")) {
    const known = document.getElementById(row.id);
    if (!known || known.dataset.mark === row.dataset.mark) continue;
    const focus = known.contains(document.activeElement) ? focused() : null;
    const copy = row.cloneNode(true);
    keepOpen(known, copy);
    known.replaceWith(copy);
    refresh(copy);
    restore(focus);
  }
}

/** The same, and how many have others to go to. */
function hold(next) {
  waiting = next;
  const n = changed(order(document.getElementById("board")), order(next));
  replace(next);
  const words = `${n} changed · show`;
  if (held.hidden || button.textContent !== words) say(words);
  button.textContent = words;
  held.hidden = false;
}

// Who came, went or stands in another group; if nobody did, who stands at another place.
function changed(now, then) {
  const other = new Set([...then.filter((one) => !now.includes(one)), ...now.filter((one) => !then.includes(one))].map(rowOf));
  return other.size || then.filter((one, at) => now[at] !== one).length;
}

function rowOf(place) {
  return place.split(" ")[1];
}

function keepOpen(known, row) {
  if (known.querySelector("details[open]")) row.querySelector("details").open = true;
}

function focused() {
  const at = document.activeElement;
  const row = at?.closest?.(".b-row");
  return row ? { id: row.id, part: at.dataset.f ?? "" } : null;
}

function restore(focus) {
  const row = focus && document.getElementById(focus.id);
  if (!row || row.contains(document.activeElement)) return;
  const part = focus.part && row.querySelector(`[data-f="${CSS.escape(focus.part)}"]`);
  (part || row).focus({ preventScroll: true });
}

/** The words that somebody has marked, to copy them. */
function selected() {
  const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = getSelection();
  return isCollapsed ? null : [anchorNode, anchorOffset, focusNode, focusOffset];
}

function reselect(words) {
  if (words?.[0].isConnected && words[2].isConnected) getSelection().setBaseAndExtent(...words);
}

function showIfFree() {
  if (waiting && !isUsed()) show(waiting);
}

button.addEventListener("click", () => waiting && show(waiting));
document.addEventListener("pointerout", () => setTimeout(showIfFree, PAUSE_MS));
document.addEventListener("focusout", () => setTimeout(showIfFree, PAUSE_MS));
document.addEventListener("click", ({ target }) => {
  for (const open of document.querySelectorAll(".b-why[open]")) if (!open.contains(target)) open.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") for (const open of document.querySelectorAll(".b-why[open]")) open.open = false;
});

listen("board", renew);
listen("hello", renew);
onReset(renew);
setInterval(() => document.visibilityState === "visible" && renew(), ANYWAY_MS);
rows(".b-row", { words: "session" });
