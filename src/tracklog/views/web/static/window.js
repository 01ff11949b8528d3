// The rows of a long session: only those near the eye are in the page.
//
// Rules of this room
//   1. Lines stand in windows of a fixed number of lines. A window that is not loaded has a height: the one it had, or a
//      guess from those that were seen.
//   2. What is near the viewport is fetched, nearest first, a few at a time; what is far away is emptied. A window with a
//      row that somebody opened keeps what was opened when it comes back.
//   3. The row under the eye stays where it is, whatever changes above it.
//   4. What is shown stays when it cannot be fetched anew. A window that failed is asked for again by who scrolls or goes
//      there, after a pause that grows; or when the server is heard again.

import { listen } from "./events.js";
import { parsed } from "./session_parts.js";
import { refresh } from "./times.js";

const rows = document.getElementById("rows");
const AT_ONCE = 3; // requests that are on their way
const MOST_NODES = 4000; // elements of rows that stay in the page; some windows have many, some have none to see
const MARGIN = 1200; // pixels around the viewport that are loaded
const HIDDEN_MS = 1_000; // no frames are drawn while nobody sees the page
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 15_000]; // after a failure

export const size = Number(rows?.dataset.size ?? 100);
export let n = Number(rows?.dataset.n ?? 0);
const generation = rows?.dataset.generation;
let guess = 24 * size * 0.7;
const windows = []; // {element, from, state, height (null: never seen), promise, control, pinned, pause, restsUntil}
const opened = new Set(); // ids of rows that are unfolded
const waiting = [];
let running = 0;

export function start() {
  if (!rows) return;
  if (!n) return observe();
  const here = rows.querySelector(".win");
  const first = Number(here.dataset.from);
  for (let from = 1; from <= n; from += size) {
    const element = from === first ? here : document.createElement("section");
    element.className = "win";
    element.dataset.from = from;
    windows.push({ element, from, state: from === first ? "loaded" : "empty", height: null });
  }
  const loaded = at(first);
  measure(loaded);
  for (const win of windows) if (win !== loaded) hold(win);
  rows.replaceChildren(...windows.map((win) => win.element));
  if (first > 1 && !location.hash) keepInView(loaded.element);
  observe();
  told(loaded);
}

/** The window that holds a line. */
function at(seq) {
  return windows[Math.floor((seq - 1) / size)];
}

export let nGone = 0; // how often somebody wanted to be elsewhere: who sees another number after a wait is late

/**
 * Brings a line into the page and under the eye; its element. A line that is folded away is shown, unless it is not
 * meant itself (`unfolds: false`): then it is a line near it. Null if it could not be fetched, or if somebody wanted to
 * be elsewhere before it came.
 */
export async function goTo(seq, { focus = true, block = "center", id = null, unfolds = true } = {}) {
  seq = Math.min(Math.max(seq, 1), n);
  const win = at(seq);
  if (!win) return null;
  const mine = ++nGone;
  document.dispatchEvent(new CustomEvent("window:going"));
  win.pinned = true;
  win.element.scrollIntoView({ block: "start", behavior: "instant" });
  await load(win, unfolds ? seq : null);
  if (unfolds && !holds(win, seq)) await load(win, seq, { anew: true });
  const row = mine === nGone ? (id && document.getElementById(id)) || rowOf(win, seq) : null;
  if (row) {
    row.scrollIntoView({ block, behavior: "instant" });
    if (focus) select(row);
  }
  requestAnimationFrame(() => (win.pinned = false));
  look();
  return row;
}

/** Whether the window of a line was ever fetched, and not left since. */
export function isThere(seq) {
  return at(seq)?.state !== "empty";
}

/** The rows of a window, without those of a subagent that is shown within one. */
function ownRows(win) {
  return [...win.element.querySelectorAll(":scope > .row")];
}

/**
 * The rows that stand around one without a gap, as far as windows are loaded; from which line to which these go.
 */
export function stretch(row) {
  const middle = row ? windows.findIndex((win) => win.element.contains(row)) : -1;
  if (middle < 0) return { rows: [], first: 1, last: 0 };
  let [low, high] = [middle, middle];
  while (windows[low - 1]?.state === "loaded") low -= 1;
  while (windows[high + 1]?.state === "loaded") high += 1;
  const loaded = windows.slice(low, high + 1);
  return { rows: loaded.flatMap(ownRows), first: loaded[0].from, last: Math.min(loaded.at(-1).from + size - 1, n) };
}

/** The rows of some lines as they would be shown, without showing them; null if they could not be fetched. */
export async function peek(from, count) {
  const answer = await fetch(addressOf(from, count)).catch(() => null);
  const html = answer?.ok ? await answer.text().catch(() => null) : null;
  return html === null ? null : [...parsed(html).querySelectorAll(".row")];
}

function covers(row, seq) {
  return Number(row.dataset.seq) <= seq && seq <= Number(row.dataset.last ?? row.dataset.seq);
}

function holds(win, seq) {
  return ownRows(win).some((row) => covers(row, seq));
}

function rowOf(win, seq) {
  const found = ownRows(win);
  return (
    found.find((row) => covers(row, seq)) ??
    found.findLast((row) => Number(row.dataset.seq) <= seq) ??
    found[0] ??
    null
  );
}

/** Makes a row the one that keys act on. */
export function select(row) {
  for (const old of rows.querySelectorAll(".is-here")) old.classList.remove("is-here");
  row.classList.add("is-here");
  const at = document.activeElement;
  if (at?.matches("input, textarea, select") && at.checkVisibility()) return; // who types goes on typing
  row.focus({ preventScroll: true });
}

// The chosen row follows the focus: a click and Tab choose, too.
rows?.addEventListener("focusin", ({ target }) => {
  const row = target.closest(".win > .row");
  if (!row || row.classList.contains("is-here")) return;
  for (const old of rows.querySelectorAll(".is-here")) old.classList.remove("is-here");
  row.classList.add("is-here");
  stayHere();
});

/** The reader chose a place by hand: who is still on the way elsewhere does not arrive. */
export function stayHere() {
  nGone += 1;
}

/** Fetches what was appended; says how many lines that are. What stands in the page is left alone. */
export async function pull() {
  const from = n + 1;
  const answer = await fetch(addressOf(from, size)).catch(() => null);
  if (!answer?.ok) return 0;
  const part = parsed(await answer.text());
  const lines = Number(answer.headers.get("X-Lines"));
  if (isRewritten(answer)) location.reload();
  if (lines < from || n + 1 !== from) return 0; // nothing new, or somebody was faster
  const last = Math.min(lines, from + size - 1);
  takeNote(lines);
  for (const win of windows.slice(Math.floor((from - 1) / size), Math.floor((last - 1) / size) + 1))
    if (win.state === "loaded" || win.from >= from) addTail(win, part, last);
  look();
  return lines - from + 1;
}

/** Makes room for lines of which nothing is known but their number. */
function takeNote(lines) {
  n = lines;
  rows.dataset.n = lines;
  document.getElementById("n-lines").textContent = `${n.toLocaleString("en-US")} lines`;
  rows.querySelector(".empty")?.remove();
  for (let from = windows.length * size + 1; from <= n; from += size) {
    const win = { element: document.createElement("section"), from, state: "empty", height: null };
    win.element.className = "win";
    win.element.dataset.from = from;
    windows.push(win);
    hold(win);
    rows.append(win.element);
    observer?.observe(win.element);
  }
}

function addTail(win, part, last) {
  const fresh = [...part.querySelectorAll(".row")].filter((row) => {
    const seq = Number(row.dataset.seq);
    return seq >= win.from && seq < win.from + size && !document.getElementById(row.id);
  });
  if (win.state !== "loaded" && last < Math.min(win.from + size - 1, n)) return; // not all of it came
  win.element.append(...fresh);
  win.element.style.height = "";
  win.element.classList.remove("is-empty");
  win.state = "loaded";
  measure(win);
  told(win);
}

const renewing = new Set(); // rows that are asked for

/** Asks again for one row: a call that may have come back. What was unfolded in it stays. */
export async function renew(row) {
  if (renewing.has(row)) return;
  renewing.add(row);
  const answer = await fetch(addressOf(Number(row.dataset.seq), 1)).catch(() => null);
  const html = answer?.ok ? await answer.text().catch(() => null) : null;
  renewing.delete(row);
  if (html === null) return;
  const fresh = parsed(html).querySelector(`[id="${CSS.escape(row.id)}"]`);
  const mark = fresh?.querySelector(".mark");
  if (!mark || mark.className === row.querySelector(".mark")?.className) return;
  const [wasHere, hadFocus] = [row.classList.contains("is-here"), row.contains(document.activeElement)];
  if (row.open) {
    const [old, summary] = [row.querySelector("summary"), fresh.querySelector("summary")];
    const wasFocused = old.contains(document.activeElement);
    old.replaceWith(summary);
    if (wasFocused) summary.focus({ preventScroll: true });
    document.dispatchEvent(new CustomEvent("row:renewed", { detail: { row } }));
    return refresh(row);
  }
  row.replaceWith(fresh);
  refresh(fresh);
  fresh.classList.toggle("is-here", wasHere);
  if (hadFocus) select(fresh);
}

async function load(win, want = null, { anew = false } = {}) {
  if (win.state === "loaded" && !anew) return;
  if (win.promise) await win.promise;
  if ((win.state === "loaded" && !anew) || isResting(win)) return;
  win.promise = fetched(win, want).finally(() => (win.promise = null));
  return win.promise;
}

async function fetched(win, want) {
  win.control = new AbortController();
  const address = addressOf(win.from, size, want);
  try {
    const answer = await fetch(address, { signal: win.control.signal });
    if (!answer.ok) throw new Error(answer.statusText);
    put(win, parsed(await answer.text()));
    if (address !== addressOf(win.from, size, want)) win.state = "stale"; // somebody wants other rows meanwhile
    if (Number(answer.headers.get("X-Lines")) < Math.min(win.from + size - 1, n)) outgrown(win);
    settle(answer);
  } catch (error) {
    if (error.name !== "AbortError") failed(win);
  }
}

/** Shows more or fewer kinds of rows: `all` lines, branches that were `left`. Rows stay until the others are there. */
export async function show(what, isOn) {
  rows.dataset[what] = isOn ? "1" : "0";
  const row = inView(rows.querySelector(".is-here")) ?? firstInView();
  const seq = Number(row?.dataset.seq ?? windowInView()?.from ?? 1);
  for (const win of windows) {
    win.height = null;
    if (win.state === "empty") hold(win);
    else win.state = "stale";
  }
  await goTo(seq);
}

function settle(answer) {
  if (isRewritten(answer)) location.reload();
  const lines = Number(answer.headers.get("X-Lines"));
  if (lines > n) document.dispatchEvent(new CustomEvent("window:grown"));
}

function isRewritten(answer) {
  const seen = answer.headers.get("X-Generation");
  return seen !== null && seen !== generation;
}

function put(win, part) {
  const chosen = win.element.querySelector(".is-here");
  const hadFocus = Boolean(chosen?.contains(document.activeElement));
  anchored(() => {
    win.element.replaceChildren(...part.childNodes);
    win.element.style.height = "";
    win.element.classList.remove("is-empty");
    win.state = "loaded";
    win.pause = 0;
    for (const row of win.element.querySelectorAll("details.row")) if (opened.has(row.id)) row.open = true;
    const again = chosen && document.getElementById(chosen.id);
    again?.classList.add("is-here");
    if (hadFocus) again?.focus({ preventScroll: true });
  });
  measure(win);
  told(win);
}

function failed(win) {
  win.pause = Math.min(win.pause ? 2 * win.pause : FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  win.restsUntil = performance.now() + win.pause;
  if (win.state !== "empty") return;
  const words = document.createElement("p");
  words.className = "notice is-bad";
  words.textContent = `Lines ${win.from} to ${win.from + size - 1} could not be fetched; scrolling tries again.`;
  win.element.replaceChildren(words);
}

/** An answer that was made before lines came which are counted by now: those are asked for in a moment. */
function outgrown(win) {
  win.state = "stale";
  win.pause = FIRST_PAUSE_MS;
  win.restsUntil = performance.now() + win.pause;
  setTimeout(look, win.pause);
}

function isResting(win) {
  return Boolean(win.pause) && performance.now() < win.restsUntil;
}

/** Asks at once for what could not be fetched while the server was not heard. */
function tryAgain() {
  const those = windows.filter((win) => win.pause);
  for (const win of those) win.pause = 0;
  if (those.length) look();
}

function told(win) {
  refresh(win.element);
  document.dispatchEvent(new CustomEvent("window:loaded", { detail: { section: win.element } }));
}

function addressOf(from, count, want = null) {
  const { query: own, all, left } = rows.dataset;
  const query = `${own}from=${from}&n=${count}&all=${all}&left=${left}${want ? `&want=${want}` : ""}`;
  return `${rows.dataset.address}/rows${query}`;
}

// Heights

function measure(win) {
  win.height = win.element.getBoundingClientRect().height;
  win.nodes = win.element.querySelectorAll("*").length;
  const seen = windows.filter((one) => one.height !== null);
  guess = Math.max(seen.reduce((sum, one) => sum + one.height, 0) / seen.length, 24);
}

function hold(win, height = win.height ?? guess) {
  win.state = "empty";
  win.element.replaceChildren();
  win.element.classList.add("is-empty");
  win.element.style.height = `${Math.round(height)}px`;
}

/** Changes the page without moving what is read: the chosen row, or the first one in view. */
export function anchored(change) {
  const row = inView(rows.querySelector(".is-here")) ?? firstInView();
  const before = row?.getBoundingClientRect().top;
  change();
  const there = row?.isConnected ? row : row && document.getElementById(row.id); // it may have come anew
  if (!there) return;
  const by = there.getBoundingClientRect().top - before;
  if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: "instant" });
}

function inView(row) {
  if (!row?.checkVisibility()) return null;
  const { top, bottom } = row.getBoundingClientRect();
  return bottom > 0 && top < innerHeight ? row : null;
}

function windowInView() {
  return windows.find(({ element }) => element.getBoundingClientRect().bottom > 60);
}

function firstInView() {
  const { left, width } = rows.getBoundingClientRect();
  for (let y = 60; y < innerHeight; y += 40) {
    const row = document.elementFromPoint(left + width / 2, y)?.closest(".win > .row");
    if (row) return row;
  }
  return null;
}

function keepInView(element) {
  const isAtEnd = rows.dataset.live === "yes" && !new URLSearchParams(location.search).has("at");
  element.scrollIntoView({ block: isAtEnd ? "end" : "start", behavior: "instant" });
}

// What is near

let observer = null;

function observe() {
  observer = new IntersectionObserver(() => look(), { rootMargin: `${MARGIN}px 0px` });
  for (const win of windows) observer.observe(win.element);
  addEventListener("scroll", () => look(), { passive: true });
  for (const name of ["hello", "reset"]) listen(name, tryAgain);
}

let isLooking = false;

function look() {
  if (isLooking) return;
  isLooking = true;
  requestAnimationFrame(lookNow);
  setTimeout(lookNow, HIDDEN_MS);
}

function lookNow() {
  if (!isLooking) return;
  isLooking = false;
  choose();
}

function choose() {
  const middle = innerHeight / 2;
  const near = [];
  for (const win of around()) {
    const box = win.element.getBoundingClientRect();
    if (box.bottom > -MARGIN && box.top < innerHeight + MARGIN) {
      const distance = Math.max(box.top - middle, middle - box.bottom, 0);
      near.push({ win, distance });
    }
  }
  near.sort((a, b) => a.distance - b.distance);
  const wanted = affordable(near.map(({ win }) => win));
  for (const win of windows) if (win.state !== "empty" && !wanted.has(win) && !win.pinned) leave(win);
  for (const win of windows) if (win.promise && !wanted.has(win) && !win.pinned) win.control?.abort();
  waiting.length = 0;
  for (const win of wanted) if (win.state !== "loaded" && !win.promise && !isResting(win)) waiting.push(win);
  pump();
}

/** As many of them, from the first on, as the page may hold. */
function affordable(near) {
  const known = windows.filter((win) => win.nodes !== undefined);
  const usual = known.reduce((sum, win) => sum + win.nodes, 0) / Math.max(known.length, 1);
  const wanted = new Set();
  let nodes = 0;
  for (const win of near) {
    nodes += win.nodes ?? usual;
    if (wanted.size > 1 && nodes > MOST_NODES) break;
    wanted.add(win);
  }
  return wanted;
}

/** The windows that can be near: found by halving, as there may be thousands. */
function around() {
  let low = 0;
  let high = windows.length - 1;
  while (low < high) {
    const half = (low + high) >> 1;
    if (windows[half].element.getBoundingClientRect().bottom < -MARGIN) low = half + 1;
    else high = half;
  }
  return windows.slice(Math.max(low - 1, 0), low + 40);
}

function leave(win) {
  if (win.element.contains(document.activeElement)) return;
  measure(win);
  anchored(() => hold(win));
}

function pump() {
  while (running < AT_ONCE && waiting.length) {
    const win = waiting.shift();
    running += 1;
    load(win).finally(() => {
      running -= 1;
      look();
    });
  }
}

// Which branches there are

const branches = () => document.getElementById("beside")?.dataset.branches;
let seenBranches = branches();

document.addEventListener("outline:changed", () => {
  if (branches() === seenBranches) return;
  seenBranches = branches();
  for (const win of windows) if (win.state === "loaded") win.state = "stale"; // other lines are hidden now
  look();
});

/** Whether the end of the session is in view. */
export function isAtEnd() {
  return innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
}

export function toEnd() {
  scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

export function remember(row) {
  if (row.open) opened.add(row.id);
  else opened.delete(row.id);
}
