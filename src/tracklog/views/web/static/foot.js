// The foot: how fresh the index is, in the server's words, asked for again whenever it has gone on.

import { listen } from "./events.js";
import { count } from "./favicon.js";

const PAUSE_MS = 500; // between two questions
const BEHIND_MS = 10_000; // what is behind grows older by itself
const SILENCE_MS = 3_000; // a stream that breaks is mostly there again by then

let isAsked = false;
let silence = 0;

async function renew() {
  if (isAsked) return;
  isAsked = true;
  await new Promise((go) => setTimeout(go, PAUSE_MS));
  isAsked = false;
  const html = await asked().catch(() => null); // the dot in the bar says that nobody answers
  if (html && !silence) put(html); // a late answer of a server that is gone must not replace the warning
}

async function asked() {
  const answer = await fetch("/_/foot");
  return answer.ok ? answer.text() : null;
}

function put(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const before = document.getElementById("foot");
  const fresh = made.content.firstElementChild;
  count(Number(fresh.dataset.waiting)); // between the page and the first word of the stream somebody may have begun to wait
  if (fresh.isEqualNode(before)) return;
  const hadFocus = before.contains(document.activeElement);
  before.replaceWith(fresh);
  if (hadFocus) fresh.querySelector("a")?.focus();
}

// What the server said last is no news: it must not go on to claim that all is up to date.
function doubt() {
  const foot = document.getElementById("foot");
  const words = document.createElement("span");
  words.className = "foot-what";
  words.textContent = "The server is not heard: `tracklog serve` starts it again, and prints a link to come in by. Its last words:";
  foot.classList.add("foot-bad");
  foot.prepend(words);
}

listen("index", renew);
listen("hello", () => {
  clearTimeout(silence);
  silence = 0;
  renew();
});
listen("lost", () => {
  silence ||= setTimeout(doubt, SILENCE_MS); // said again with every try that fails
});
setInterval(() => {
  const isMoving = document.getElementById("foot").hasAttribute("data-moving");
  if (isMoving && document.visibilityState === "visible") renew();
}, BEHIND_MS);
