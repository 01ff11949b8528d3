// Copy buttons: `data-copy` holds the text, or `data-copy-from` a selector of what to copy.

import { say } from "./keys.js";

const SHOWN_MS = 1500;

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text); // the clipboard is refused without a secure address or a permission
  }
}

function copyOldWay(text) {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  field.readOnly = true;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus({ preventScroll: true });
  return done;
}

function textOf(button) {
  if (button.dataset.copy !== undefined) return button.dataset.copy;
  const place = document.querySelector(button.dataset.copyFrom);
  return place?.value ?? place?.textContent ?? "";
}

function show(button, words) {
  button.dataset.words ??= button.textContent;
  button.textContent = words;
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = setTimeout(() => {
    button.textContent = button.dataset.words;
    delete button.dataset.words;
  }, SHOWN_MS);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy], button[data-copy-from]");
  if (!button) return;
  const words = (await copy(textOf(button))) ? "copied" : "not copied: the browser refused";
  show(button, words);
  say(words);
});
