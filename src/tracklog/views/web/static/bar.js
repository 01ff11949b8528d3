// The bar: whether news arrive, how many wait for the person, and that the lit word can be seen.

import { listen } from "./events.js";
import { count } from "./favicon.js";

const dot = document.getElementById("live-dot");
const WORDS = {
  on: "Live: news arrive as they happen",
  lost: "The server is not heard: what you see may be old. `tracklog serve` starts it again",
};

function show(state) {
  dot.dataset.state = state;
  dot.title = WORDS[state];
  dot.firstElementChild.textContent = WORDS[state];
}

listen("hello", () => show("on"));
listen("lost", () => show("lost"));
listen("board", ({ waiting }) => count(waiting));

const lit = document.querySelector(".bar-pages [aria-current]");
lit?.scrollIntoView({ block: "nearest", inline: "nearest" }); // on a small screen the bar is longer than the page
