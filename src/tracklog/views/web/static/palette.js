// The palette: Ctrl-K or Cmd-K on every page, a few letters, Enter.
//
// Rules of this room
//   1. What it offers comes from the server as ready options; nothing of a log is put together here.
//   2. The focus stays in the field; the chosen option is told by aria-activedescendant. Closed, the focus is where it was.

import { key, letter } from "./keys.js";
import { refresh } from "./times.js";

const PAUSE_MS = 60;
let dialog, field, list;
let asking = null;
let timer = 0;
let told = null; // what the options are for

function build() {
  dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Go to a page or a session");
  field = document.createElement("input");
  list = document.createElement("div");
  field.className = "palette-field";
  field.type = "text";
  field.placeholder = "A page, a session, or words to search for";
  for (const [name, value] of Object.entries({
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": "A page, a session, or words to search for",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: "200",
  })) field.setAttribute(name, value);
  list.id = "palette-list";
  list.className = "palette-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "What fits");
  dialog.append(field, list);
  document.body.append(dialog);
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  });
  field.addEventListener("keydown", steer);
  list.addEventListener("click", (event) => choose(event.target.closest("[role=option]"), event));
  list.addEventListener("pointermove", (event) => select(event.target.closest("[role=option]")));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => asking?.abort());
}

function open() {
  if (!dialog) build();
  if (dialog.open) {
    dialog.close();
    return;
  }
  if (document.querySelector("dialog:modal")) return; // another one asks for an answer first
  field.value = "";
  told = null;
  list.replaceChildren();
  dialog.showModal();
  field.focus();
  ask();
}

async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  const text = field.value;
  try {
    const answer = await fetch(`/_/palette?q=${encodeURIComponent(text)}`, { signal: mine.signal });
    const html = await answer.text();
    if (mine !== asking) return;
    told = text;
    put(answer.ok ? html : null);
  } catch (error) {
    if (error.name !== "AbortError" && mine === asking) put(null);
  }
}

function put(html) {
  const made = document.createElement("template");
  made.innerHTML = html ?? "";
  refresh(made.content);
  list.replaceChildren(made.content);
  if (html === null) list.append(note("The server does not answer."));
  else if (!options().length) list.append(note("Nothing fits."));
  select(options()[0]);
}

function note(words) {
  const line = document.createElement("p");
  line.className = "palette-none muted";
  line.textContent = words;
  return line;
}

function options() {
  return [...list.querySelectorAll("[role=option]")];
}

function current() {
  return list.querySelector("[aria-selected=true]");
}

function select(option) {
  if (!option || option === current()) return;
  current()?.setAttribute("aria-selected", "false");
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option.id);
}

function steer(event) {
  if (event.isComposing) return;
  const all = options();
  const at = all.indexOf(current());
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[event.key];
  if (to !== undefined && all.length) {
    event.preventDefault();
    const around = Math.abs(to - at) === 1;
    select(all[around ? (to + all.length) % all.length : Math.min(Math.max(to, 0), all.length - 1)]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    enter();
  }
}

// What was typed since the last answer counts, too.
async function enter() {
  clearTimeout(timer);
  const text = field.value;
  if (told !== text) await ask();
  if (dialog.open && told === text && field.value === text) current()?.click(); // else it was taken back meanwhile
}

function choose(option, event) {
  if (!option) return;
  const act = option.dataset.act;
  if (!act) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) dialog.close();
    return; // it is a link
  }
  dialog.close();
  document.getElementById(act === "theme" ? "theme" : "help-open")?.click();
}

document.addEventListener("keydown", (event) => {
  if (letter(event).toLowerCase() !== "k" || event.altKey || event.shiftKey) return;
  if (event.ctrlKey === event.metaKey) return; // one of both
  event.preventDefault();
  open();
});

key("Ctrl K", "go to a page or a session", null, { group: "Everywhere" });
