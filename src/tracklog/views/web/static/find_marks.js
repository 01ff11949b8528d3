// Marks what is looked for in the rows that are in the page: with the browser's own highlights, so that no row is changed.

const MOST_RANGES = 3000;
const MOST_LETTERS = 400_000; // of one row
const canMark = typeof Highlight !== "undefined" && "highlights" in CSS;

/** What finds the words: any case, any white space between them. */
export function patternOf(text) {
  const words = text.trim().split(/\s+/u).filter(Boolean);
  return words.length ? new RegExp(words.map((word) => RegExp.escape?.(word) ?? escaped(word)).join("\\s+"), "giu") : null;
}

function escaped(word) {
  return word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Where the words stand in an element, as ranges; they may begin in one text and end in another. */
export function rangesIn(element, pattern, most = MOST_RANGES) {
  const texts = [];
  const begins = [];
  let whole = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, isContent);
  while (walker.nextNode() && whole.length < MOST_LETTERS) {
    texts.push(walker.currentNode);
    begins.push(whole.length);
    whole += walker.currentNode.data;
  }
  const found = [];
  for (const match of whole.matchAll(pattern)) {
    if (!match[0] || found.length >= most) break;
    found.push(rangeOf(texts, begins, match.index, match.index + match[0].length));
  }
  return found;
}

function isContent(node) {
  return node.parentElement.closest(".find-badge, .tools, .at, .took") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
}

function rangeOf(texts, begins, first, last) {
  const range = new Range();
  const from = placeOf(begins, first);
  const to = placeOf(begins, last - 1);
  range.setStart(texts[from], first - begins[from]);
  range.setEnd(texts[to], last - begins[to]);
  return range;
}

function placeOf(begins, at) {
  let low = 0;
  let high = begins.length - 1;
  while (low < high) {
    const half = (low + high + 1) >> 1;
    if (begins[half] <= at) low = half;
    else high = half - 1;
  }
  return low;
}

/** Marks the words in some elements, and those of one row more strongly. */
export function markAll(elements, pattern, here) {
  if (!canMark) return;
  clear();
  if (!pattern) return;
  const others = new Highlight();
  const ours = new Highlight();
  ours.priority = 1;
  for (const element of elements) {
    if (others.size >= MOST_RANGES) break;
    const isHere = here.includes(element);
    for (const range of rangesIn(element, pattern, MOST_RANGES - others.size)) (isHere ? ours : others).add(range);
  }
  CSS.highlights.set("find", others);
  CSS.highlights.set("find-here", ours);
}

export function clear() {
  if (!canMark) return;
  CSS.highlights.delete("find");
  CSS.highlights.delete("find-here");
}
