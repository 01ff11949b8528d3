// What a session's page says besides its rows goes on while it is watched: the header, the outline, what was spent.
// It changes in place: whoever has chosen, marked or scrolled something there keeps it.

import { anchored, n } from "./window.js";
import { listen } from "./events.js";
import { parsed } from "./session_parts.js";
import { refresh } from "./times.js";

const PAUSE_MS = 2_000; // between two questions
const rows = document.getElementById("rows");
const turns = document.getElementById("turns");
let isDue = false;
let isWaiting = false;

/** Asks how the session stands: at once, or when the pause since the last time is over and somebody looks. */
export async function askAgain() {
  isDue = true;
  if (isWaiting || document.visibilityState !== "visible") return;
  isDue = false;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    if (isDue) void askAgain();
  }, PAUSE_MS);
  const { address, query, first } = rows.dataset;
  const now = await asked(`${address}/now${query}at=${first}`);
  const shown = turns.querySelector("ol");
  const outline = await asked(`${turns.dataset.address}at=${outlineAt()}`); // of the session as it was just looked at
  anchored(() => {
    for (const part of now?.children ?? []) change(document.getElementById(part.id), part);
    if (outline && turns.querySelector("ol") === shown) changeAll(turns, outline);
  });
  document.dispatchEvent(new CustomEvent("outline:changed"));
}

async function asked(address) {
  const answer = await fetch(address).catch(() => null); // the dot in the bar says that nobody answers
  const html = answer?.ok ? await answer.text().catch(() => null) : null;
  if (html === null) return null;
  const part = parsed(html);
  refresh(part); // times as they are told here: those that say the same stay as they are
  return part;
}

/** A line amid the turns that are shown; the last line, if these are the last. */
function outlineAt() {
  const links = [...turns.querySelectorAll("a[data-go]")];
  const isLast = turns.lastElementChild?.tagName === "OL";
  return isLast || !links.length ? n : links[Math.min(30, links.length - 1)].dataset.go;
}

/** Makes an element say what another says; it stays the same element if it can. */
function change(old, fresh) {
  if (!old || old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName) return old.replaceWith(fresh);
  if (!(old instanceof Element)) return void (old.nodeValue = fresh.nodeValue);
  if (old.dataset.words !== undefined) return; // it says "copied", for a moment
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  changeAll(old, fresh);
}

function changeAll(old, fresh) {
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  for (const [at, node] of after.entries()) {
    if (before[at]) change(before[at], node);
    else old.append(node);
  }
  for (const node of before.slice(after.length)) node.remove();
}

if (rows) {
  for (const name of ["board", "reset", "hello"]) listen(name, () => void askAgain());
  listen("index", (told) => (told.state !== "reading" || document.querySelector("#head .notice")) && void askAgain());
  document.addEventListener("visibilitychange", () => isDue && void askAgain());
}
