// Find in a session: `/` opens the bar. The server looks through all lines, also those that are not in the page.
//
// Rules of this room
//   1. What is counted are lines. An answer may come in parts: the server says how far it looked, and is asked again.
//   2. A row that hides its match says how many there are, and is opened when somebody arrives at it.
//   3. The browser's own find is left alone.

import { goTo, n, select, size } from "./window.js";
import { key, say } from "./keys.js";
import { clear, markAll, patternOf, rangesIn } from "./find_marks.js";
import { draw, remove } from "./find_ticks.js";

const PAUSE_MS = 150;
const MOST = 5000;
const MOST_OPENED = 4;
const PATIENCE_MS = 5000;
const rows = document.getElementById("rows");
const GROUP = "Session";

let bar, field, said;
let hits = []; // lines, in order
let counts = new Map(); // how often each of them holds the words
let looked = 0; // up to this line
let isAll = true;
let pattern = null;
let current = -1;
let arrived = []; // rows of the current hit
let coming = null; // what waits for the contents of a row that was opened
let asking = null;
let timer = 0;
let kept = null; // what was found when the bar was closed
let waits = false; // for the row that the address names

// The bar

function made(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function build() {
  field = made("input", {
    type: "search",
    class: "find-field",
    placeholder: "Find in this session",
    "aria-label": "Find in this session",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: "1000",
  });
  said = made("output", { class: "find-said num", "aria-live": "polite" });
  const before = made("button", { type: "button", class: "quiet", title: "The one before (N)", "aria-label": "Match before" }, "↑");
  const next = made("button", { type: "button", class: "quiet", title: "The next one (n)", "aria-label": "Next match" }, "↓");
  const shut = made("button", { type: "button", class: "quiet", title: "Close (Esc)", "aria-label": "Close" }, "×");
  bar = made("form", { class: "find-bar", role: "search", "aria-label": "Find in this session" }, field, said, before, next, shut);
  document.body.append(bar);
  field.addEventListener("input", soon);
  bar.addEventListener("submit", (event) => event.preventDefault());
  bar.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.target === field) step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  });
  before.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));
  shut.addEventListener("click", close);
}

function open() {
  if (!bar) build();
  bar.hidden = false;
  field.focus();
  field.select();
  if (field.value.trim() && !hits.length) ask();
}

function close() {
  bar.hidden = true;
  asking?.abort();
  clearTimeout(timer);
  kept = { hits, counts, looked, isAll, pattern, current };
  forget();
  show();
  rows.querySelector(".is-here")?.focus({ preventScroll: true });
  return true;
}

/** The next match, or the one before; after the bar was closed it comes back with what was found. */
function walk(by) {
  if (!pattern && !kept?.pattern) return false;
  if (!pattern) {
    ({ hits, counts, looked, isAll, pattern, current } = kept);
    bar.hidden = false;
    if (!isAll) void goOn(field.value.trim(), false);
  }
  void step(by);
}

function forget() {
  hits = [];
  counts = new Map();
  looked = 0;
  isAll = true;
  pattern = null;
  current = -1;
  arrived = [];
  coming?.disconnect();
}

// Asking

function soon() {
  clearTimeout(timer);
  timer = setTimeout(() => ask({ jumps: true }), PAUSE_MS);
}

async function ask({ jumps = false } = {}) {
  const text = field.value.trim();
  forget();
  pattern = patternOf(text);
  isAll = !pattern;
  asking?.abort();
  if (!pattern) return show();
  tell("…");
  await goOn(text, jumps);
}

/** Asks for the next part, until there is no more of it. */
async function goOn(text, jumps) {
  asking?.abort();
  const mine = (asking = new AbortController());
  do {
    const part = await partOf(text, looked + 1, mine.signal);
    if (mine.signal.aborted) return;
    if (!part) return tell("not answered: try again");
    take(part);
    show();
    if (jumps && hits.length && current < 0) {
      jumps = false;
      step(1);
    }
  } while (!isAll && hits.length < MOST);
}

async function partOf(text, from, signal) {
  const query = `${rows.dataset.query}q=${encodeURIComponent(text)}&from=${from}`;
  const answer = await fetch(`${rows.dataset.address}/find${query}`, { signal }).catch(() => null);
  return answer?.ok ? answer.json().catch(() => null) : null;
}

function take(part) {
  part.hits.forEach((seq, at) => {
    if (!counts.has(seq)) hits.push(seq);
    counts.set(seq, Math.max(counts.get(seq) ?? 0, part.counts[at]));
  });
  hits.sort((one, other) => one - other);
  looked = Math.max(part.to, looked + 1);
  isAll = part.all;
  settle();
}

// Showing

function tell(words) {
  if (said.textContent !== words) said.textContent = words;
}

function show() {
  const total = `${hits.length.toLocaleString()}${isAll ? "" : "+"}`;
  if (bar) {
    const place = current < 0 ? "" : `${(current + 1).toLocaleString()} of `;
    const none = isAll ? "no lines" : "…";
    tell(!pattern ? "" : hits.length ? `${place}${total}${current < 0 ? (hits.length === 1 && isAll ? " line" : " lines") : ""}` : none);
    bar.classList.toggle("is-none", Boolean(pattern) && isAll && !hits.length);
  }
  badge(rows);
  paint();
}

let isPainting = false;

function paint() {
  if (isPainting) return;
  isPainting = true;
  requestAnimationFrame(() => {
    isPainting = false;
    if (!pattern) {
      clear();
      remove();
      return;
    }
    markAll(rows.querySelectorAll(".row"), pattern, arrived);
    draw(rows, hits, size, hits[current]);
  });
}

/** Says on folded rows how many matches they hide; those of a result are on its call. */
function badge(section) {
  for (const old of section.querySelectorAll(".find-badge")) old.remove();
  if (!pattern) return;
  const hidden = new Map();
  for (const row of section.querySelectorAll(".row")) {
    const n = counts.get(Number(row.dataset.seq));
    const place = n && row.id && !row.id.includes(".") ? (callOf(row) ?? row) : null;
    if (place?.tagName === "DETAILS") hidden.set(place, (hidden.get(place) ?? 0) + n);
  }
  for (const [row, n] of hidden) row.querySelector("summary").append(made("span", { class: "find-badge chip" }, n === 1 ? "1 match" : `${n} matches`));
}

/** The row of the call whose result a row is, if it is in the page. */
function callOf(row) {
  const id = calledBy(row);
  return id && rows.querySelector(`[data-call="${CSS.escape(id)}"]`);
}

function calledBy(row) {
  const link = row.classList.contains("k-result") ? row.querySelector('a[href^="#c"]') : null;
  return link ? decodeURIComponent(link.hash.slice(2)) : null;
}

// Going

async function step(by) {
  if (!hits.length) return pattern && isAll ? say("No line of this session holds that") : undefined;
  current = current < 0 ? nearest(by) : (current + by + hits.length) % hits.length;
  const seq = hits[current];
  const row = await goTo(seq, { focus: document.activeElement !== field });
  if (hits[current] !== seq || !row) return;
  await arriveAt(row, seq);
  show();
}

function nearest(by) {
  const top = [...rows.querySelectorAll(".win > .row, .win.is-empty")].find((place) => place.getBoundingClientRect().bottom > 140);
  const seq = Number(top?.dataset.seq ?? top?.dataset.from ?? 1);
  const at = by > 0 ? hits.findIndex((one) => one >= seq) : hits.findLastIndex((one) => one < seq);
  return at < 0 ? (by > 0 ? 0 : hits.length - 1) : at;
}

/** Opens what hides the match, and brings it under the eye. */
async function arriveAt(row, seq) {
  const call = await callFor(row, seq);
  if (hits[current] !== seq) return; // another one is wanted by now, or none
  const same = [...rows.querySelectorAll(`.win > .row[data-seq="${seq}"]`)];
  const all = call ? [call] : same.length ? same : [row];
  const holding = all.filter((one) => rangesIn(one, pattern, 1).length);
  arrived = holding.length ? holding.slice(0, 1) : all;
  for (const one of arrived.slice(0, MOST_OPENED)) if (one.tagName === "DETAILS") one.open = true;
  if (document.activeElement !== field && arrived[0]) select(arrived[0]);
  if (look()) return;
  arrived[0]?.scrollIntoView({ block: "center", behavior: "instant" });
  watch();
}

/** What was opened comes later: the match is in it, or in the part of it that is not shown yet. */
function watch() {
  coming?.disconnect();
  const asked = new Set();
  const mine = (coming = new MutationObserver(() => {
    if (look()) {
      mine.disconnect();
      return show();
    }
    for (const link of arrived.flatMap((row) => [...row.querySelectorAll("a[data-more], a[data-whole]")]))
      if (!asked.has(link.href)) {
        asked.add(link.href);
        link.click();
      }
  }));
  for (const row of arrived.slice(0, MOST_OPENED)) mine.observe(row, { childList: true, subtree: true });
  setTimeout(() => mine.disconnect(), PATIENCE_MS);
}

async function callFor(row, seq) {
  const id = calledBy(row);
  if (!id) return null;
  const there = callOf(row);
  if (there) return there;
  const query = `${rows.dataset.query}call=${encodeURIComponent(id)}`;
  const answer = await fetch(`${rows.dataset.address}/where${query}`).catch(() => null);
  const place = answer?.ok ? await answer.json().catch(() => null) : null;
  if (!place?.seq || hits[current] !== seq) return null;
  await goTo(place.seq, { focus: document.activeElement !== field });
  return rows.querySelector(`[data-call="${CSS.escape(id)}"]`);
}

/** Brings the first match of the row where we are into view; says whether there is one in the page. */
function look() {
  for (const row of arrived) {
    const range = pattern && rangesIn(row, pattern, 1)[0];
    const box = range?.getBoundingClientRect();
    if (!box || (!box.width && !box.height)) continue;
    reveal(range);
    arrived = [row];
    return true;
  }
  return false;
}

/** Scrolls what scrolls inside the page, and then the page. */
function reveal(range) {
  for (let place = range.startContainer.parentElement; place && place !== rows; place = place.parentElement) {
    if (place.scrollHeight <= place.clientHeight + 1 || !/auto|scroll/.test(getComputedStyle(place).overflowY)) continue;
    place.scrollTop += range.getBoundingClientRect().top - place.getBoundingClientRect().top - place.clientHeight / 2;
  }
  const box = range.getBoundingClientRect();
  if (box.top < 140 || box.bottom > innerHeight - 80) scrollBy({ top: box.top - innerHeight / 2, behavior: "instant" });
}

/** The row that the address names is a hit, too: that is the one we are at. */
function settle() {
  if (!waits || current >= 0) return;
  const row = rows.querySelector(".is-here");
  const at = row ? hits.indexOf(Number(row.dataset.seq)) : -1;
  if (at < 0) return;
  waits = false;
  current = at;
  arriveAt(row, hits[at]).then(show);
}

document.addEventListener("window:loaded", () => {
  if (!pattern) return;
  badge(rows);
  paint();
  if (isAll && n > looked) goOn(field.value.trim(), false); // the session went on
});

if (rows) {
  key("/", "find in this session", open, { group: GROUP });
  key("n", "next match", () => walk(1), { group: GROUP });
  key("Esc", "close find", () => (bar && !bar.hidden ? close() : false), { group: GROUP });
  key("N", "match before", () => walk(-1), { group: GROUP });
  document.getElementById("find-open")?.addEventListener("click", open);
  rows.addEventListener("focusin", settle);
  addEventListener("resize", () => pattern && paint());
  if (rows.dataset.find) {
    build();
    field.value = rows.dataset.find;
    waits = Boolean(location.hash);
    queueMicrotask(() => ask({ jumps: !waits }));
  }
}
