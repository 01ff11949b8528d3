// Keys: each page declares its own with `key`, and `?` lists them all.
//
// Rules of this room
//   1. A key works alone: never with Ctrl, Alt or Cmd, never in a field, never while a dialog is open.
//   2. The last declaration of a key comes first: a page may give `/` another meaning.
//   3. Nothing here destroys anything.

const PATIENCE_MS = 1200; // between the keys of a sequence
const NAMES = { Esc: "Escape", Space: " ", "↓": "ArrowDown", "↑": "ArrowUp", "→": "ArrowRight", "←": "ArrowLeft" };
const SIGNS = { BracketRight: "]}", Period: ".>", Slash: "/?" }; // by their places, alone and with Shift
const EVERYWHERE = "Everywhere";

const declared = [];
let typed = [];
let typedAt = 0;

/** Declares a key or a sequence ("j", "g b", "gg", "Enter"); several that do the same as a list.
 *  `act` gets the event; if it returns false, the declaration before it is asked, and at last the browser.
 *  Without `act` the key is only listed: somebody else listens for it. */
export function key(keys, words, act, { group = "This page" } = {}) {
  const all = [keys].flat();
  declared.unshift({ keys: all, ways: act ? all.map(sequence) : [], words, act, group });
}

/** Lets j and k walk along the elements that a selector finds at that moment. Give it links, or rows with one. */
export function rows(selector, { words = "row", group = "This page" } = {}) {
  const step = (by) => () => focusOn(beside(selector, by));
  key(["j", "↓"], `next ${words}`, walking(selector, step(1)), { group });
  key(["k", "↑"], `previous ${words}`, walking(selector, step(-1)), { group });
  key(["gg", "Home"], `first ${words}`, walking(selector, () => focusOn(all(selector).at(0))), { group });
  key(["G", "End"], `last ${words}`, walking(selector, () => focusOn(all(selector).at(-1))), { group });
  key(["Enter", "o"], `open the ${words}`, () => openRow(current(selector)), { group });
}

/** Says something to those who hear the page. */
export function say(words) {
  const place = document.getElementById("said");
  place.textContent = "";
  requestAnimationFrame(() => (place.textContent = words));
}

function sequence(keys) {
  return keys.split(" ").flatMap((part) => {
    if (part in NAMES) return [NAMES[part]];
    return /^[a-z]+$/.test(part) ? [...part] : [part]; // "gg" is two keys, "Home" is one
  });
}

// Walking along rows

function all(selector) {
  return [...document.querySelectorAll(selector)].filter((row) => row.checkVisibility());
}

function current(selector) {
  return document.activeElement?.closest(selector) ?? null;
}

let last = { selector: "", id: "", index: 0 }; // where the focus was: rows may be replaced under it

document.addEventListener("focusin", (event) => {
  if (!last.selector) return;
  const row = event.target.closest(last.selector);
  if (row) last = { ...last, id: row.id, index: all(last.selector).indexOf(row) };
});

function beside(selector, by) {
  const rows = all(selector);
  let at = rows.indexOf(current(selector));
  if (at < 0 && last.selector === selector) at = remembered(rows, by);
  last = { ...last, selector };
  return rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
}

function remembered(rows, by) {
  const same = last.id ? rows.findIndex((row) => row.id === last.id) : -1;
  if (same >= 0) return same;
  return Math.min(last.index, rows.length) - (by > 0 ? 1 : 0); // its row is gone: go on where it was
}

// Arrows, Home and End belong to the page until somebody walks along the rows.
function walking(selector, act) {
  return (event) => (event.key.length > 1 && !current(selector) ? false : act());
}

function focusOn(row) {
  if (!row) return false;
  if (row.tabIndex < 0 && !row.hasAttribute("tabindex")) row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  return true;
}

function openRow(row) {
  const link = row?.matches("a[href]") ? row : row?.querySelector("a[href]");
  if (!link) return false;
  link.click();
  return true;
}

// Hearing

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.key === "Escape" && isTypedInto(event.target)) return letGo(event);
  if (!isOurs(event)) return;
  if (["Shift", "CapsLock"].includes(event.key)) return;
  const isHandled = matching(letter(event), event.timeStamp).some(({ act }) => act(event) !== false);
  if (isHandled) event.preventDefault();
});

function isOurs(event) {
  const isWritten = event.getModifierState("AltGraph"); // a German "]" is AltGr with 9
  if (!isWritten && (event.ctrlKey || event.altKey || event.metaKey)) return false;
  if (document.querySelector("dialog:modal")) return false;
  const place = event.target instanceof Element ? event.target : document.body;
  if (isTypedInto(place)) return false;
  return !(["Enter", " "].includes(event.key) && place.closest("a[href], button, summary")); // they do it themselves
}

function isTypedInto(place) {
  if (!(place instanceof Element) || !place.checkVisibility()) return false; // a dialog that just closed has the focus still
  return place.isContentEditable || Boolean(place.closest("input, textarea, select"));
}

// What was typed stays: the browser would empty a field for searches.
function letGo(event) {
  if (document.querySelector("dialog:modal")) return;
  event.preventDefault();
  event.target.blur();
}

/** The key that was pressed. On a keyboard of another script its place counts: "о" on a Russian one is "j". */
export function letter(event) {
  const [, latin] = /^Key([A-Z])$/.exec(event.code) ?? [];
  const [low, high] = latin ? [latin.toLowerCase(), latin] : (SIGNS[event.code] ?? []);
  if (event.key.length !== 1 || event.key <= "\x7f" || !low) return event.key;
  return event.shiftKey ? high : low;
}

function matching(pressed, at) {
  typed = at - typedAt < PATIENCE_MS ? [...typed, pressed] : [pressed];
  typedAt = at;
  for (; typed.length; typed = typed.slice(1)) {
    const found = declared.filter(({ ways }) => ways.some((way) => equal(way, typed)));
    if (found.length) typed = [];
    if (found.length || isBegun()) return found;
  }
  return [];
}

function isBegun() {
  return declared.some(({ ways }) => ways.some((way) => equal(way.slice(0, typed.length), typed)));
}

function equal(one, other) {
  return one.length === other.length && one.every((part, n) => part === other[n]);
}

// The list of all keys

function listed() {
  const seen = new Set();
  const groups = new Map();
  for (const { keys, words, group } of declared) {
    const free = keys.filter((name) => !seen.has(name));
    keys.forEach((name) => seen.add(name));
    if (free.length) groups.set(group, [{ keys: free, words }, ...(groups.get(group) ?? [])]);
  }
  return [...groups].sort(([one], [other]) => (one === EVERYWHERE) - (other === EVERYWHERE));
}

function made(name, text, ...children) {
  const element = document.createElement(name);
  element.textContent = text;
  element.append(...children);
  return element;
}

function keyCell(keys) {
  const caps = keys.flatMap((name) => [" ", ...caption(name).map((part) => made("kbd", part))]);
  return made("dt", "", ...caps.slice(1));
}

function caption(name) {
  return name.split(" ").flatMap((part) => (/^[a-z]{2,}$/.test(part) ? [...part] : [part]));
}

function groupOf([group, entries]) {
  const list = made("dl", "");
  for (const { keys, words } of entries) list.append(made("div", "", keyCell(keys), made("dd", words)));
  return made("section", "", made("h3", group), list);
}

function openHelp() {
  const dialog = document.getElementById("help");
  document.getElementById("help-keys").replaceChildren(...listed().map(groupOf));
  dialog.showModal();
}

const help = document.getElementById("help");
document.getElementById("help-open").addEventListener("click", openHelp);
document.getElementById("help-close").addEventListener("click", () => help.close());
help.addEventListener("click", (event) => event.target === help && help.close());
help.addEventListener("keydown", (event) => {
  if (event.key !== "?") return;
  event.preventDefault();
  help.close();
});

const field = document.getElementById("q");

function go(address) {
  return () => location.assign(address);
}

function search() {
  field.focus();
  field.select();
}

key("g b", "board", go("/"), { group: EVERYWHERE });
key("g s", "sessions", go("/sessions"), { group: EVERYWHERE });
key("g c", "calls", go("/calls"), { group: EVERYWHERE });
key("g d", "doctor", go("/doctor"), { group: EVERYWHERE });
key("/", "search", search, { group: EVERYWHERE });
key("?", "this list", openHelp, { group: EVERYWHERE });
key("Esc", "close, let go", () => document.activeElement?.blur?.(), { group: EVERYWHERE });
