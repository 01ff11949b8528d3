// The lists of sessions and calls: rows by keys, and how far the first reading is.

import { key, rows, say } from "./keys.js";
import { listen } from "./events.js";

// Only what does something here is a key.
const filter = document.getElementById("f-q");
const next = document.querySelector("a[rel=next]");
if (document.querySelector(".srow, .crow")) rows(".srow, .crow", { words: "row" });
if (document.querySelector(".srow details.subs")) {
  key("→", "open its subagents", () => unfold(true));
  key("←", "close them", () => unfold(false));
}
if (filter) key("f", filter.name === "project" ? "filter by project" : "filter by words", type);
if (next) key("]", "next page", () => next.click());

function unfold(open) {
  const fold = document.activeElement?.closest(".srow")?.querySelector("details.subs");
  if (!fold) return false;
  fold.open = open;
}

function type() {
  filter.focus();
  filter.select();
}

// While everything is read for the first time

const nothingYet = document.getElementById("nothing-yet");
const words = document.getElementById("reading-words");
const RELOAD_MS = 1500;
let loadedAt = Date.now();

listen("index", (status) => {
  if (words && status.state === "reading") {
    const count = (n) => n.toLocaleString("en-US");
    words.textContent = `${count(status.files)} of ${count(status.files_known)} files read, newest first.`;
  }
  const isOver = status.state !== "reading";
  if (nothingYet && (isOver || (status.files > 0 && Date.now() - loadedAt > RELOAD_MS))) {
    loadedAt = Date.now();
    location.reload();
  } else if (isOver && document.getElementById("reading")) {
    words.textContent = "All files are read.";
    say("All files are read.");
  }
});
