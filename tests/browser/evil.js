// What a page of another site may try against a server on this machine. Each way tells what it got, or "refused".
async function attempt(way, base) {
  const page = `${base}/`, api = `${base}/api/v1/sessions`, events = `${base}/_/events`;
  const loaded = (element, attribute, address, place = document.body) =>
    new Promise((resolve) => {
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("refused");
      element[attribute] = address;
      place.append(element);
      setTimeout(() => resolve("refused"), 3000);
    });
  const asked = (address, options) =>
    fetch(address, options).then(
      async (answer) => (answer.type === "opaque" ? "refused" : `${answer.status} ${(await answer.text()).slice(0, 40)}`),
      () => "refused",
    );
  const ways = {
    "fetch a page": () => asked(page, { credentials: "include" }),
    "fetch the api": () => asked(api, { credentials: "include" }),
    "fetch without cors": () => asked(page, { credentials: "include", mode: "no-cors" }),
    "fetch with a header": () => asked(api, { headers: { Authorization: "Bearer x" } }),
    "post a form by fetch": () =>
      asked(`${base}/answer`, { method: "POST", credentials: "include", body: new URLSearchParams({ id: "x", decision: "allow" }) }),
    "post json": () =>
      asked(`${base}/answer`, { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: "{}" }),
    beacon: () => (navigator.sendBeacon(`${base}/answer`, "id=x&decision=allow"), "refused"),
    "old request": () =>
      new Promise((resolve) => {
        const one = new XMLHttpRequest();
        one.withCredentials = true;
        one.onload = () => resolve(`${one.status} ${one.responseText.slice(0, 40)}`);
        one.onerror = () => resolve("refused");
        one.open("GET", page);
        one.send();
      }),
    "event stream": () =>
      new Promise((resolve) => {
        const one = new EventSource(events, { withCredentials: true });
        one.onmessage = one.onopen = () => (one.close(), resolve("heard"));
        one.onerror = () => (one.close(), resolve("refused"));
      }),
    "web socket": () =>
      new Promise((resolve) => {
        const one = new WebSocket(`${base.replace("http", "ws")}/_/events`);
        one.onopen = () => (one.close(), resolve("opened"));
        one.onerror = () => resolve("refused");
      }),
    picture: () => loaded(new Image(), "src", `${base}/static/favicon.svg`),
    script: () => loaded(document.createElement("script"), "src", `${base}/static/keys.js`),
    module: () => import(`${base}/static/keys.js`).then(() => "loaded", () => "refused"),
    style: () => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      return loaded(link, "href", `${base}/static/base.css`, document.head);
    },
    prefetch: () => {
      const link = document.createElement("link");
      link.rel = "prefetch";
      return loaded(link, "href", page, document.head).then(() => "refused"); // whether it came is not told: the statuses are
    },
    frame: () =>
      new Promise((resolve) => {
        const frame = document.createElement("iframe");
        const look = () => {
          try {
            resolve(frame.contentDocument?.body?.textContent ? "read" : "refused");
          } catch {
            resolve("refused");
          }
        };
        frame.onload = look;
        setTimeout(look, 10_000); // a frame that is kept back does not always say so
        frame.src = page;
        document.body.append(frame);
      }),
    object: () => loaded(document.createElement("object"), "data", page).then((got) => (got === "loaded" ? "refused" : got)),
    form: () =>
      new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.name = `f${Math.random()}`;
        const form = document.createElement("form");
        form.action = `${base}/answer`;
        form.method = "POST";
        form.target = frame.name;
        document.body.append(frame, form);
        frame.onload = () => setTimeout(() => resolve("refused"), 200);
        form.submit();
        setTimeout(() => resolve("refused"), 2000);
      }),
    window: () =>
      new Promise((resolve) => {
        const other = open(page);
        setTimeout(() => {
          try {
            resolve(other?.document?.body?.textContent ? "read" : "refused");
          } catch {
            resolve("refused");
          }
          other?.close();
        }, 700);
      }),
    worker: () =>
      new Promise((resolve) => {
        try {
          const one = new Worker(`${base}/static/keys.js`);
          one.onerror = () => resolve("refused");
          setTimeout(() => resolve("loaded"), 1500);
        } catch {
          resolve("refused");
        }
      }),
  };
  if (way === undefined) return Object.keys(ways);
  return Promise.race([ways[way](), new Promise((go) => setTimeout(() => go("no end"), 30_000))]);
}
