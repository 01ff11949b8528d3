// While all logs are looked at, the page asks again now and then: what is said comes by itself.

import { refresh } from "./times.js";

const EVERY_MS = 2000;
const MOST = 900; // times: half an hour

let asked = 0;
const timer = setInterval(async () => {
  if (document.visibilityState !== "visible") return;
  if (++asked > MOST) return clearInterval(timer);
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  if (holder.content.querySelector(".running progress")) return;
  clearInterval(timer);
  refresh(holder.content);
  document.querySelector("#main").replaceChildren(...holder.content.querySelector("#main").childNodes);
}, EVERY_MS);
