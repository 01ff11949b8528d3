// How many wait for the person: before the title, and on the favicon.

const SIZE = 64;
const link = document.querySelector('link[rel="icon"]');
const plain = { href: link.href, type: link.type };
let shown = /^\((\d+)\) /.test(document.title) ? null : 0; // null: in the title already, not yet drawn

/** Shows that so many wait; 0 takes it away. */
export function count(n) {
  if (n === shown) return;
  shown = n;
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = n ? `(${n}) ${title}` : title;
  document.documentElement.dataset.waiting = n;
  if (n) badge(n);
  else put(plain);
}

function put({ href, type }) {
  link.type = type;
  link.href = href;
}

function badge(n) {
  const icon = new Image();
  icon.addEventListener("load", () => {
    if (shown === n) put({ href: drawn(icon, n), type: "image/png" });
  });
  icon.src = plain.href;
}

function drawn(icon, n) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const pen = canvas.getContext("2d");
  pen.drawImage(icon, 0, 0, SIZE, SIZE);
  pen.fillStyle = "#f2b84b";
  pen.beginPath();
  pen.arc(42, 42, 22, 0, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = "#1b1f24";
  pen.font = `600 ${n > 9 ? 28 : 36}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(n > 99 ? "99" : String(n), 42, 44);
  return canvas.toDataURL("image/png");
}

count(Number(document.documentElement.dataset.waiting) || 0);
