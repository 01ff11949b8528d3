// One stream of events from the server: kept open, opened again when it breaks.

const NAMES = ["hello", "reset", "board", "append", "rewritten", "index"];
const AGAIN_MS = 3_000; // the browser itself comes back sooner, unless the server has refused it

/** Tells every event as (name, data); and "lost" when the server is not heard any more. */
export function follow(tell) {
  let source = null;
  let later = 0;
  let hasMissed = false; // a new stream does not know what the one before it would have told

  function open() {
    source = new EventSource("/_/events");
    for (const name of NAMES) source.addEventListener(name, (event) => heard(name, JSON.parse(event.data)));
    source.addEventListener("error", broken);
  }

  function heard(name, data) {
    tell(name, data);
    if (name !== "hello" || !hasMissed) return;
    hasMissed = false;
    tell("reset", {});
  }

  function broken() {
    tell("lost", {});
    if (source.readyState !== EventSource.CLOSED) return;
    hasMissed = true;
    later = setTimeout(open, AGAIN_MS);
  }

  function close() {
    clearTimeout(later);
    source.close();
  }

  open();
  return { close };
}
