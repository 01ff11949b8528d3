// What all scripts of a session's page need: words for everybody, a mark on a row, HTML of ours in its place.

import { say } from "./keys.js";
import { refresh } from "./times.js";

/** Says something to everybody, for a moment. */
export function tell(words) {
  say(words);
  const toast = document.getElementById("toast");
  toast.textContent = words;
  toast.showPopover();
  lift();
  clearTimeout(ending);
  ending = setTimeout(() => toast.hidePopover(), 5000);
}

let ending = 0;

/** Brings the words that are shown above a dialog that came after them. */
export function lift() {
  const toast = document.getElementById("toast");
  if (!toast.matches(":popover-open")) return;
  toast.hidePopover();
  toast.showPopover();
}

/** Makes a row, or a part of the outline, stand out for a moment. */
export function mark(row) {
  if (!row) return;
  row.classList.add("is-meant");
  setTimeout(() => row.classList.remove("is-meant"), 2500);
}

/** Puts a part of a page, as the server sent it, into its place. */
export function fill(place, html) {
  place.replaceChildren(parsed(html));
  refresh(place);
}

/** A part of a page, as the server sent it, that is nowhere yet. */
export function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}
