// The page of a session: links to its lines, its outline, its keys.

import { anchored, goTo, n, nGone, select, show, start } from "./window.js";
import { key } from "./keys.js";
import { fill, mark, tell } from "./session_parts.js";
import { ERROR, PROMPT, here, nearest, seek, shown, step } from "./session_steps.js";
import { followEnd, stayAtEnd, toggleFollow } from "./session_tail.js";
import { raw } from "./session_unfold.js";
import "./find.js";

const rows = document.getElementById("rows");
const GROUP = "Session";

// Links: #r12 a row, #L12 a line of a log, #t3 a turn, #cID a call

let nFollowed = 0;

async function follow(hash) {
  const meant = /^#([rLtc])(.+)$/.exec(hash);
  if (!meant) return;
  const mine = ++nFollowed;
  document.getElementById("missing-place")?.remove();
  const [, kind, value] = meant;
  const word = decoded(value);
  if (kind === "r") {
    const seq = Number.parseInt(word, 10);
    if (!(seq >= 1 && seq <= n)) return missing(`There is no line ${word} here: it has ${n.toLocaleString("en-US")}.`);
    mark(await goTo(seq, { id: `r${word}` }));
    return;
  }
  const gone = nGone;
  const there = kind === "c" && rows.querySelector(`.win > [data-call="${CSS.escape(word)}"]`);
  const place = there ? { seq: Number(there.dataset.seq) } : await where(kind, word);
  if (mine !== nFollowed || gone !== nGone) return; // somebody wants to be elsewhere by now
  if (!place) return tell("The server does not answer");
  if (place.thread) return location.assign(`${location.pathname}?thread=${encodeURIComponent(place.thread)}${hash}`);
  const { seq } = place;
  if (!seq) return missing(`There is no ${{ L: "line", t: "turn", c: "call" }[kind]} ${word} in this session.`);
  const row = await goTo(seq);
  if (!row) return;
  const call = kind === "c" ? rows.querySelector(`.win > [data-call="${CSS.escape(word)}"]`) : null;
  if (call) {
    call.open = true;
    select(call);
    call.scrollIntoView({ block: "center", behavior: "instant" });
  }
  mark(call ?? row);
}

/** Says on top of the conversation what an address names that is not there, until another place is wanted. */
function missing(words) {
  const notice = document.createElement("p");
  notice.id = "missing-place";
  notice.className = "notice missing";
  notice.textContent = words;
  document.querySelector(".grid").before(notice);
  tell(words); // who reads far below stays there, and does not see the top
}

async function where(kind, word) {
  const name = { L: "line", t: "turn", c: "call" }[kind];
  const query = new URLSearchParams(rows.dataset.query.slice(1).replace(/&$/, ""));
  const file = new URLSearchParams(location.search).get("file");
  query.set(name, word);
  if (file) query.set("file", file);
  const answer = await fetch(`${rows.dataset.address}/where?${query}`).catch(() => null);
  return answer?.ok ? answer.json().catch(() => null) : null;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no percent signs of ours
  }
}

addEventListener("popstate", () => (history.state?.seq ? back(history.state) : follow(location.hash)));

/** Where the reader was when the page was left, or reloaded. */
async function back({ seq, top }) {
  const row = await goTo(seq, { focus: false, block: "start" });
  if (row) scrollBy({ top: row.getBoundingClientRect().top - top, behavior: "instant" });
}

function remindMe() {
  const row = nearest();
  if (!row) return;
  const place = { seq: Number(row.dataset.seq), top: Math.round(row.getBoundingClientRect().top) };
  history.replaceState(place, "");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.dataset.go) return going(event, Number(link.dataset.go), link.hash);
  if (link.dataset.turns) return outline(event, link.dataset.turns);
  if (!link.hash || link.pathname !== location.pathname || pageOf(link.search) !== pageOf(location.search)) return;
  if (/^#(outline|agents|branches|spent)$/.test(link.hash)) return flash(event, link.hash);
  if (/^#[rLtc]/.test(link.hash)) {
    event.preventDefault();
    document.getElementById("raw-dialog").close();
    remindMe();
    history.pushState(null, "", link.hash);
    follow(link.hash);
  }
});

/** What an address says of the page itself, besides the place in it and how much is shown. */
function pageOf(search) {
  const said = new URLSearchParams(search);
  for (const name of ["at", "all", "left"]) said.delete(name);
  return said.toString();
}

// Where the outline stands above the rows it is folded, so that these are seen first.
const fold = document.querySelector(".outline-fold");
if (fold && matchMedia("(max-width: 760px)").matches) fold.open = /^#(outline|agents|branches|spent)$/.test(location.hash);

/** Shows a part of the outline, which stands beside the rows, without moving these. */
function flash(event, hash) {
  const part = document.querySelector(hash);
  const place = part?.closest(".outline");
  fold.open = true;
  if (!place || getComputedStyle(place).position !== "sticky") return;
  event.preventDefault();
  place.scrollTop = part === place ? 0 : part.offsetTop - place.offsetTop;
  mark(part);
}

function going(event, seq, hash) {
  event.preventDefault();
  remindMe();
  history.pushState(null, "", hash || `#r${seq}`);
  goTo(seq, { block: "start" }).then(mark);
}

async function outline(event, at) {
  event.preventDefault();
  await turnsAround(at);
}

let nOutlined = 0;

async function turnsAround(at) {
  const mine = ++nOutlined;
  const place = document.getElementById("turns");
  const answer = await fetch(`${place.dataset.address}at=${at}`).catch(() => null);
  const html = answer?.ok ? await answer.text().catch(() => null) : null;
  if (html === null || mine !== nOutlined) return;
  const hadFocus = place.contains(document.activeElement);
  fill(place, html);
  if (hadFocus) place.querySelector("a[data-turns], a[data-go]")?.focus({ preventScroll: true });
}

// The outline follows the eye

let isFollowing = false;

addEventListener(
  "scroll",
  () => {
    if (isFollowing) return;
    isFollowing = true;
    setTimeout(() => {
      isFollowing = false;
      remindMe();
      void showTurn();
    }, 200);
  },
  { passive: true },
);

let seenTurn = null; // the turn to which the outline was scrolled

async function showTurn({ asks = true } = {}) {
  const seq = Number(nearest()?.dataset.seq);
  const links = [...document.querySelectorAll("#turns a[data-go]")];
  if (!seq || !links.length) return;
  const at = links.findLastIndex((link) => Number(link.dataset.go) <= seq);
  const isBeyond = (at < 0 && hasMore("before")) || (at === links.length - 1 && hasMore("after"));
  if (isBeyond && asks) {
    await turnsAround(seq);
    return showTurn({ asks: false });
  }
  const item = markTurn(seq);
  const place = document.querySelector(".outline");
  const turn = item.querySelector("a[data-go]").dataset.go;
  if (turn === seenTurn || place.scrollHeight <= place.clientHeight) return; // who scrolls there is left alone
  seenTurn = turn;
  place.scrollTop = item.offsetTop - place.clientHeight / 3;
}

/** Marks the turn of a line among those that are shown. */
function markTurn(seq) {
  for (const old of document.querySelectorAll("#turns li[aria-current]")) old.removeAttribute("aria-current");
  const links = [...document.querySelectorAll("#turns a[data-go]")];
  const item = (links.findLast((link) => Number(link.dataset.go) <= seq) ?? links[0])?.closest("li");
  item?.setAttribute("aria-current", "true");
  return item;
}

document.addEventListener("outline:changed", () => markTurn(Number(nearest()?.dataset.seq)));

function hasMore(where) {
  return [...document.querySelectorAll("#turns a[data-turns]")].some((link) => link.textContent.includes(where));
}

// Branches that were left

function showLeft() {
  const isOn = rows.dataset.left !== "1";
  show("left", isOn);
  spell("left", isOn);
  tell(isOn ? "Branches that were left are shown" : "Only the living branch is shown");
}

// Keys

if (rows) {
  start();
  key(["j", "↓"], "next row", () => void step(1), { group: GROUP });
  key(["k", "↑"], "row before", () => void step(-1), { group: GROUP });
  key("J", "next prompt", () => void seek(1, PROMPT), { group: GROUP });
  key("K", "prompt before", () => void seek(-1, PROMPT), { group: GROUP });
  key("e", "next error", () => void seek(1, ERROR), { group: GROUP });
  key("E", "error before", () => void seek(-1, ERROR), { group: GROUP });
  key(["Enter", "o", "→"], "unfold the row", () => toggle(true), { group: GROUP });
  key("←", "fold the row", () => toggle(false), { group: GROUP });
  key("x", "unfold all calls of this turn", unfoldTurn, { group: GROUP });
  key("r", "the line itself", () => void (here() && raw(here().querySelector("a.raw").href)), { group: GROUP });
  key("y", "copy a link to the row", copyLink, { group: GROUP });
  key("c", "copy the command that goes on with it", () => document.getElementById("copy-resume")?.click(), { group: GROUP });
  key(["gg", "Home"], "to the beginning", () => void goTo(1, { block: "start", unfolds: false }), { group: GROUP });
  key(["G", "End"], "to the end, and stay there", () => void followEnd(), { group: GROUP });
  key(".", "follow the end", toggleFollow, { group: GROUP });
  key("a", "every line, or those that say something", () => press("all-lines"), { group: GROUP });
  key("b", "branches that were left, too", showLeft, { group: GROUP });
  key("t", "unfold what the model thought", () => press("thoughts"), { group: GROUP });
  if (history.state?.seq && history.state.seq <= n) back(history.state);
  else if (location.hash) follow(location.hash);
  else if (rows.dataset.live === "yes" && !new URLSearchParams(location.search).has("at")) stayAtEnd();
}

function toggle(open) {
  const row = here();
  if (!row || row.tagName !== "DETAILS") return false;
  row.open = open && !(open && row.open);
}

function unfoldTurn() {
  const all = shown();
  const at = all.indexOf(here()?.closest(".win > .row") ?? nearest());
  const from = all.slice(0, at + 1).findLastIndex(PROMPT.fits);
  const rest = all.slice(Math.max(from + 1, 0));
  const until = rest.findIndex(PROMPT.fits);
  const ours = rest.slice(0, until < 0 ? undefined : until).filter((row) => row.dataset.call);
  const isOpen = ours.some((row) => !row.open);
  anchored(() => {
    for (const row of ours.slice(0, 40)) row.open = isOpen;
  });
}

function copyLink() {
  const row = here();
  if (!row) return;
  const address = new URL(location.href);
  address.hash = row.dataset.call ? `c${encodeURIComponent(row.dataset.call)}` : row.id;
  navigator.clipboard?.writeText(address.href).then(() => tell("Link copied"), () => tell("The browser refused to copy"));
}

function press(id) {
  const button = document.getElementById(id);
  const isOn = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(isOn));
  rows.classList.toggle(`shows-${id}`, isOn);
  if (id === "all-lines") {
    spell("all", isOn);
    void show("all", isOn);
  } else
    anchored(() => {
      for (const row of rows.querySelectorAll("details.k-thinking")) row.open = isOn;
    });
}

/** The address says what is shown. */
function spell(what, isOn) {
  const address = new URL(location.href);
  if (isOn) address.searchParams.set(what, "1");
  else address.searchParams.delete(what);
  history.replaceState(history.state, "", address);
}

for (const id of ["all-lines", "thoughts"]) document.getElementById(id)?.addEventListener("click", () => press(id));

document.addEventListener("window:loaded", ({ detail }) => {
  if (!rows?.classList.contains("shows-thoughts")) return;
  for (const row of detail.section.querySelectorAll("details.k-thinking")) row.open = true;
});
