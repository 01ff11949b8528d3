// The search page, as somebody types: each letter takes back the question before it, and the address keeps up.

import { key, rows, say } from "./keys.js";
import { refresh } from "./times.js";
import { listen } from "./events.js";

const PAUSE_MS = 80;
const PATTERN_MS = 500; // a regular expression takes a process of its own
const REPEAT_MS = 2000; // while the index is being made
const form = document.querySelector(".search-form");
const field = document.getElementById("search-q");
const results = document.getElementById("results");
let shown = results.dataset.q;
let asking = null;
let timer = 0;
let renewedAt = 0;

function query() {
  const given = new URLSearchParams(location.search);
  const words = new URLSearchParams();
  if (field.value.trim()) words.set("q", field.value);
  if (given.get("by") === "relevance") words.set("by", "relevance");
  return words;
}

// The word before the cursor may not be whole yet: the server then takes it as a beginning, and says so.
function typing(words) {
  const isAtItsEnd = field.selectionEnd === field.value.length && /\S$/.test(field.value);
  return isAtItsEnd ? new URLSearchParams([...words, ["typing", "1"]]) : words;
}

function soon() {
  clearTimeout(timer);
  const words = field.value.trim();
  if (words === shown.trim()) return;
  timer = setTimeout(typed, /(^|\s)re:/i.test(words) ? PATTERN_MS : PAUSE_MS);
}

async function typed() {
  const words = query();
  const address = `/search${words.size ? `?${words}` : ""}`;
  if (await ask(typing(words))) history.replaceState(null, "", address);
}

async function ask(words) {
  asking?.abort();
  const mine = (asking = new AbortController());
  const text = field.value;
  results.classList.add("is-asking");
  try {
    const answer = await fetch(`/_/search?${words}`, { signal: mine.signal });
    const html = await answer.text();
    if (mine !== asking) return false;
    if (answer.ok) put(html, text);
    else tell(html);
    return answer.ok;
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) tell("The server does not answer. Is it still running?");
    return false;
  } finally {
    if (mine === asking) results.classList.remove("is-asking");
  }
}

function put(html, text) {
  const made = document.createElement("template");
  made.innerHTML = html;
  refresh(made.content);
  const hadFocus = results.contains(document.activeElement);
  results.replaceChildren(made.content);
  if (hadFocus) (results.querySelector("a.hit, .examples a") ?? field).focus();
  shown = text;
  const [waiting] = /^(\(\d+\) )?/.exec(document.title);
  document.title = `${waiting}${text.trim() ? `${text.trim().slice(0, 80)} · ` : ""}Search · tracklog`;
  const said = document.getElementById("search-said");
  if (said) say(said.textContent);
}

function tell(words) {
  const line = document.createElement("p");
  line.className = "search-note search-bad";
  line.setAttribute("role", "alert");
  line.textContent = words.slice(0, 400);
  results.querySelector(".search-note")?.remove();
  results.prepend(line);
}

field.addEventListener("input", soon);
field.addEventListener("keydown", (event) => {
  const first = results.querySelector("a.hit, .examples a");
  if (event.key !== "ArrowDown" || event.isComposing || !first) return;
  event.preventDefault();
  first.focus();
});
form.addEventListener("submit", (event) => {
  const isShown = field.value.trim() === shown.trim() && !document.getElementById("search-begun");
  if (!isShown) return; // then the browser does it
  event.preventDefault();
  results.querySelector("a.hit")?.focus();
});

// While the index grows, what is shown grows with it; unless somebody is on a hit, or reads a later page.
listen("index", (status) => {
  const isWaiting = results.querySelector(".search-note[role=status]");
  if (!isWaiting || document.hidden || results.contains(document.activeElement) || scrollY > 200) return;
  if (status.state === "reading" && Date.now() - renewedAt < REPEAT_MS) return;
  renewedAt = Date.now();
  if (field.value.trim() !== shown.trim()) return void typed(); // what is asked for is what stands in the field
  ask(new URLSearchParams(location.search));
});

key("/", "the search field", () => {
  field.focus();
  field.select();
});
rows("#results a.hit", { words: "hit" });
if (field.autofocus) field.focus();
