// What happens, as it happens: `listen` to it by name.
//
//   hello      the stream is there, or there again: what you show may be older than it
//   reset      something may have been missed: ask for everything anew
//   board, append, rewritten, index      as the server tells them
//   lost       the server is not heard any more

import { follow } from "./events_source.js";

const listeners = new Map();
let last = null; // "hello" or "lost", for those who come later
let leave = null;

/** Calls back with the data of each event of that name. */
export function listen(name, callback) {
  listeners.set(name, [...(listeners.get(name) ?? []), callback]);
  if (last?.[0] === name) callback(last[1]);
}

/** Calls back when whatever is shown must be asked for anew. */
export function onReset(callback) {
  listen("reset", callback);
}

function tell(name, data) {
  if (name === "hello" || name === "lost") last = [name, data];
  for (const callback of listeners.get(name) ?? []) callback(data);
}

function join() {
  if (leave) return;
  if (typeof SharedWorker === "undefined") return joinAlone();
  const worker = new SharedWorker(new URL("./events_worker.js", import.meta.url), { type: "module", name: "events" });
  worker.addEventListener("error", joinAlone, { once: true });
  worker.port.addEventListener("message", ({ data: [name, data] }) => tell(name, data));
  worker.port.start();
  leave = () => worker.port.postMessage("bye");
}

function joinAlone() {
  leave?.();
  const stream = follow(tell);
  leave = () => stream.close();
}

addEventListener("pagehide", () => {
  leave?.();
  leave = null;
});
addEventListener("pageshow", ({ persisted }) => {
  join();
  if (persisted) tell("reset", {}); // it comes back from where browsers keep pages that were left
});
join();
