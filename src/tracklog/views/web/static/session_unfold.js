// What unfolds in a session's page: calls, long texts, subagents in their place, the line itself; and what is copied.

import { anchored, remember } from "./window.js";
import { copy } from "./copy.js";
import { fill, lift, tell } from "./session_parts.js";

const rows = document.getElementById("rows");

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-raw], a[data-more], a[data-whole]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.raw !== undefined) void raw(link.href);
  else if (link.dataset.whole) void whole(link);
  else void more(link);
});

// Unfolding

rows?.addEventListener(
  "toggle",
  (event) => {
    const row = event.target;
    if (!row.classList.contains("row")) return;
    remember(row);
    if (row.open && row.dataset.call && !row.querySelector(".inside")) anchored(() => void unfold(row));
  },
  true,
);

document.addEventListener("row:renewed", ({ detail: { row } }) => {
  const inside = row.querySelector(":scope > .inside");
  if (!row.dataset.call || inside?.querySelector(".inline-thread")) return; // who reads a subagent there goes on
  anchored(() => {
    inside?.remove();
    void unfold(row);
  });
});

async function unfold(row) {
  const inside = document.createElement("div");
  inside.className = "inside";
  inside.textContent = "…";
  row.append(inside);
  const own = row.dataset.elsewhere ? `?thread=${encodeURIComponent(row.dataset.elsewhere)}&` : rows.dataset.query;
  const query = `${own}seq=${row.dataset.seq}&n=${row.dataset.n ?? 0}`;
  const answer = await fetch(`${rows.dataset.address}/call${query}`).catch(() => null);
  const html = answer?.ok ? await answer.text().catch(() => null) : null;
  if (html !== null) anchored(() => fill(inside, html));
  else {
    inside.textContent = "This call could not be fetched: close it and open it again.";
    row.addEventListener("toggle", () => inside.remove(), { once: true });
  }
  document.dispatchEvent(new CustomEvent("window:loaded", { detail: { section: inside } }));
}

async function more(link) {
  const answer = await fetch(link.href).catch(() => null);
  if (!answer?.ok) return tell("It could not be fetched");
  const line = link.closest(".more");
  const text = textBeside(line);
  const isNextPiece = text.contains(line);
  const place = isNextPiece ? document.createElement("div") : text;
  fill(place, await answer.text());
  if (isNextPiece) text.append(place);
  line.remove();
}

/** All lines of the changes in a call, in the place of some. */
async function whole(link) {
  const inside = link.closest(".inside");
  const answer = await fetch(link.dataset.whole).catch(() => null);
  if (!answer?.ok) return tell("It could not be fetched");
  fill(inside, await answer.text());
  document.dispatchEvent(new CustomEvent("window:loaded", { detail: { section: inside } }));
}

/** The text of which a line says that there is more: around it, behind it (results), or before it. */
function textBeside(line) {
  const kinds = ".md, .said, .out";
  const beside = [line.nextElementSibling, line.previousElementSibling].find((one) => one?.matches(kinds));
  return line.closest(kinds) ?? beside ?? line.parentElement.querySelector(kinds);
}

// A subagent in its place

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-inline-thread]");
  if (!button) return;
  const place = document.createElement("div");
  place.className = "inline-thread";
  const query = `?thread=${encodeURIComponent(button.dataset.inlineThread)}&from=1&n=100`;
  const answer = await fetch(`${rows.dataset.address}/rows${query}`).catch(() => null);
  if (!answer?.ok) return tell("The subagent could not be fetched");
  fill(place, await answer.text());
  for (const row of place.querySelectorAll("[id]")) row.removeAttribute("id");
  for (const row of place.querySelectorAll("details[data-call]")) row.dataset.elsewhere = button.dataset.inlineThread;
  const all = document.createElement("a");
  all.href = button.parentElement.querySelector("a").href;
  all.textContent = "All of it, on its own page ›";
  place.append(all);
  button.closest("p").after(place);
  button.remove();
});

// Copying

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy-row]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest(".row");
  onCode.remove(); // its word is none of the text
  copy((row.querySelector(".said, .md") ?? row).innerText).then((done) => tell(done ? "Copied" : "The browser refused to copy"));
});

const onCode = document.createElement("button"); // one button that goes to the block under the pointer
onCode.type = "button";
onCode.className = "quiet on-code";
onCode.textContent = "copy";
onCode.addEventListener("click", () => copy(onCode.nextElementSibling.innerText));
rows?.addEventListener("pointerover", (event) => {
  const under = event.target.closest(".inside pre, .md pre, .diff table");
  const block = under?.matches(".numbers") ? under.parentElement.querySelector(".code") : under; // nobody copies numbers of lines
  if (block && block !== onCode.nextElementSibling) block.before(onCode);
});

// The line itself

const dialog = document.getElementById("raw-dialog");
let nWanted = 0;

/** Shows a line as it stands in its log, by the address of its page; unless another is wanted before it came, or none. */
export async function raw(address) {
  const mine = ++nWanted;
  const wasOpen = dialog.open;
  const page = new URL(address);
  const part = `${page.pathname.replace("/raw/", "/_/s/")}/raw${page.search}`;
  const answer = await fetch(part).catch(() => null);
  const html = answer?.ok ? await answer.text().catch(() => null) : null;
  if (html === null) return tell("The line could not be fetched");
  if (mine !== nWanted || (wasOpen && !dialog.open)) return;
  const inside = document.getElementById("raw-inside");
  const word = inside.contains(document.activeElement) ? document.activeElement.textContent : null;
  fill(inside, html);
  if (!dialog.open) dialog.showModal();
  if (word) ([...inside.querySelectorAll("a[data-raw]")].find((link) => link.textContent === word) ?? document.getElementById("raw-close")).focus();
  lift();
}

dialog?.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("#raw-close")) dialog.close();
});
