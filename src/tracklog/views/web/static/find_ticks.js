// Ticks beside the scrollbar: where in a long session the hits are. One picture, drawn from the lines alone.

const SVG = "http://www.w3.org/2000/svg";
const TALL = 2000; // steps of the picture's height
let picture = null;

/** Draws a tick for each hit; `here` is the line of the one that is looked at. */
export function draw(rows, seqs, size, here) {
  if (!seqs.length) return remove();
  picture ??= made();
  const tops = placesOf(rows);
  const places = new Set(seqs.map((seq) => placeOf(tops, seq, size)));
  const [all, one] = picture.children;
  all.setAttribute("d", [...places].map((y) => `M0 ${y}h8`).join(""));
  one.setAttribute("d", here ? `M-2 ${placeOf(tops, here, size)}h12` : "");
}

export function remove() {
  picture?.remove();
  picture = null;
}

function made() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "find-ticks");
  svg.setAttribute("viewBox", `0 0 10 ${TALL}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (const name of ["find-tick", "find-tick-here"]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", name);
    path.setAttribute("vector-effect", "non-scaling-stroke");
    svg.append(path);
  }
  document.body.append(svg);
  return svg;
}

/** Where each window begins and ends, as parts of the whole page's height. */
function placesOf(rows) {
  const height = document.documentElement.scrollHeight;
  const base = rows.getBoundingClientRect().top + scrollY;
  const top = rows.offsetTop;
  return [...rows.querySelectorAll(":scope > .win")].map((win) => [
    (base + win.offsetTop - top) / height,
    win.offsetHeight / height,
  ]);
}

function placeOf(tops, seq, size) {
  const [top, height] = tops[Math.min(Math.floor((seq - 1) / size), tops.length - 1)] ?? [0, 0];
  return Math.round((top + (((seq - 1) % size) / size) * height) * TALL);
}
