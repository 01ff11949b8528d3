// Times: relative ones go on, exact ones speak the reader's zone.
//
//   <time datetime="…" data-rel>    "3 min ago", again every ten seconds; its title is exact, local and UTC
//   <time datetime="…" data-local="time|day|both">    the exact time itself, in the reader's zone
//   <span data-since="<ms since 1970>">    how long it has lasted, every second

const SLOW_MS = 10_000;
const FAST_MS = 1_000;
const MINUTE = 60, HOUR = 3600, DAY = 86_400;

const dayFormat = new Intl.DateTimeFormat("sv-SE"); // that is 2026-11-16, as the server writes days
const timeFormat = new Intl.DateTimeFormat("sv-SE", { timeStyle: "medium" });
const zoneFormat = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });
const FORMATS = {
  time: (at) => timeFormat.format(at),
  day: (at) => dayFormat.format(at),
  both: (at) => `${dayFormat.format(at)} ${timeFormat.format(at).slice(0, -3)}`,
};

/** "just now", "12 s ago", "3 min ago", "5 h ago", "2 d ago", then the day itself. */
export function ago(at, now = Date.now()) {
  const seconds = Math.floor((now - at) / 1000);
  if (seconds < -5) return dayFormat.format(at);
  if (seconds < 5) return "just now";
  if (seconds < MINUTE) return `${seconds} s ago`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  return seconds < 30 * DAY ? `${Math.floor(seconds / DAY)} d ago` : dayFormat.format(at);
}

/** "8s", "1m 12s", "2h 05m", "3d 4h": the unit below the largest shows that it goes on. */
export function lasted(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m ${two(seconds % MINUTE)}s`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h ${two(Math.floor((seconds % HOUR) / MINUTE))}m`;
  return `${Math.floor(seconds / DAY)}d ${Math.floor((seconds % DAY) / HOUR)}h`;
}

/** Brings the times below an element up to date; give it what was just put into the page. */
export function refresh(root = document) {
  for (const time of root.querySelectorAll("time[datetime]")) tell(time);
  tick(root);
}

function tell(time) {
  const at = Date.parse(time.dateTime);
  if (Number.isNaN(at)) return;
  if ("rel" in time.dataset) put(time, ago(at));
  else if (time.dataset.local in FORMATS) put(time, FORMATS[time.dataset.local](at));
  const title = exactly(at);
  if (time.title !== title) time.title = title;
}

function exactly(at) {
  const utc = `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const zone = zoneFormat.formatToParts(at).find(({ type }) => type === "timeZoneName").value;
  const local = `${dayFormat.format(at)} ${timeFormat.format(at)} ${zone}`;
  return local === utc ? utc : `${local} · ${utc}`;
}

function tick(root = document) {
  for (const place of root.querySelectorAll("[data-since]")) {
    const since = Number(place.dataset.since);
    if (since > 0) put(place, lasted(Date.now() - since));
  }
}

function put(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

function ifSeen(act) {
  return () => document.visibilityState === "visible" && act();
}

refresh();
setInterval(ifSeen(refresh), SLOW_MS);
setInterval(ifSeen(tick), FAST_MS);
document.addEventListener("visibilitychange", ifSeen(refresh));
document.addEventListener("pointerover", (event) => {
  const time = event.target.closest?.("time[datetime]"); // what came in since the last round
  if (time) tell(time);
});
