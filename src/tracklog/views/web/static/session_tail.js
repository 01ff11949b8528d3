// The end of a session that runs: what is appended comes in, and moves nobody who reads elsewhere.

import { goTo, isAtEnd, n, pull, renew, toEnd } from "./window.js";
import { listen } from "./events.js";
import { askAgain } from "./session_now.js";
import { tell } from "./session_parts.js";

const rows = document.getElementById("rows");
const OPEN_CALLS = ".win > .row > summary > :is(.v-running, .v-pending)";
const STREAM_MS = 1000; // until a server that was just started watches
let follows = false;
const news = document.getElementById("new-rows");
let seen = n;

/** Stays at the end from now on, or no longer. */
export function toggleFollow() {
  follows = !follows;
  tell(follows ? "Following the end" : "No longer following");
  if (follows) stayAtEnd();
}

/** Goes to the last line, and stays at the end from now on. */
export async function followEnd() {
  follows = false; // until the end is there
  const row = await goTo(n, { block: "end" });
  if (row) stayAtEnd();
}

/** Is at the end from now on. */
export function stayAtEnd() {
  follows = true;
  tellNews(true);
}

const isOurs = (told) =>
  told.agent === rows?.dataset.agent && told.session === rows?.dataset.session && told.thread === rows?.dataset.thread;

let isAsking = false;
let asksAgain = false;

/** Takes in what was appended. */
async function append() {
  if (isAsking) return void (asksAgain = true);
  isAsking = true;
  try {
    do {
      asksAgain = false;
      const wasAtEnd = isAtEnd() || follows;
      if ((await pull()) > 0) {
        tellNews(wasAtEnd);
        void askAgain();
        asksAgain = true; // there may be more than came at once
      }
      renewOpen();
    } while (asksAgain);
  } finally {
    isAsking = false; // also if the connection broke amid an answer
  }
}

/** Asks what became of the calls that run. */
function renewOpen() {
  for (const mark of rows.querySelectorAll(OPEN_CALLS)) void renew(mark.closest(".row"));
}

function tellNews(wasAtEnd) {
  if (wasAtEnd) {
    seen = n;
    news.hidden = true;
    return toEnd();
  }
  news.hidden = false;
  news.textContent = `${(n - seen).toLocaleString()} new ↓`;
}

news?.addEventListener("click", followEnd);

// Who goes up no longer follows. What is fetched or appended moves the end away, or makes the page shorter: that is no
// wish of anybody.
let [lastY, lastHeight] = [0, 0];

function scrolled() {
  const { scrollHeight } = document.documentElement;
  if (isAtEnd()) {
    seen = n;
    news.hidden = true;
  } else if (scrollY < lastY && scrollHeight >= lastHeight) follows = false;
  [lastY, lastHeight] = [scrollY, scrollHeight];
}

if (rows) {
  addEventListener("scroll", scrolled, { passive: true });
  document.addEventListener("window:going", () => (follows = false)); // whoever goes somewhere does not follow
  document.addEventListener("window:loaded", ({ detail }) => follows && detail.section.matches(".win") && toEnd());
  listen("append", (told) => isOurs(told) && append());
  document.addEventListener("window:grown", () => append());
  listen("rewritten", (told) => isOurs(told) && location.reload());
  listen("reset", () => append());
  listen("index", (told) => told.state === "fresh" && renewOpen());
  // What was written between the page and the first word of the stream, or before a young server watches, nobody tells.
  listen("hello", () => append());
  setTimeout(append, STREAM_MS);
}
