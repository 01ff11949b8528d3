// Holds the stream of events for all tabs of this browser: a server has six connections for them, and this takes one.

import { follow } from "./events_source.js";

const ports = new Set();
let last = null; // "hello" or "lost", for those who come later
let stream = null;

function tell(name, data) {
  if (name === "hello" || name === "lost") last = [name, data];
  for (const port of ports) port.postMessage([name, data]);
}

function leave(port) {
  ports.delete(port);
  if (ports.size || !stream) return;
  stream.close();
  stream = last = null;
}

addEventListener("connect", ({ ports: [port] }) => {
  ports.add(port);
  port.addEventListener("message", () => leave(port)); // the only word of a page: it goes
  port.start();
  if (last) port.postMessage(last);
  stream ??= follow(tell);
});
