"use strict";

const element = (id) => document.getElementById(id);
const storedHandle = () => localStorage.getItem("handle") || "+12025559876";
let handle = new URLSearchParams(location.search).get("user") || storedHandle();
let deviceID = null;
let events = null;

function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function clock(at) {
  const time = make("time", at.slice(11, 19));
  time.dateTime = at;
  return time;
}

function list(id, rows, emptyText) {
  element(id).replaceChildren(...(rows.length ? rows : [make("li", emptyText)]));
}

function row(at, text, className) {
  const made = make("li", undefined, className);
  made.append(clock(at), text);
  return made;
}

function ring(share) {
  const length = 2 * Math.PI * 15;
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 36 36");
  svg.setAttribute("aria-hidden", "true");
  for (const name of ["track", "done"]) {
    const circle = document.createElementNS(space, "circle");
    circle.setAttribute("class", name);
    for (const [key, value] of [["cx", 18], ["cy", 18], ["r", 15]]) circle.setAttribute(key, value);
    if (name === "done") {
      circle.setAttribute("stroke-dasharray", length);
      circle.setAttribute("stroke-dashoffset", length * (1 - Math.min(1, Math.max(0, share))));
    }
    svg.append(circle);
  }
  return svg;
}

function showIsland(island) {
  const place = element("island");
  const key = JSON.stringify(island);
  if (place.dataset.shown === key) return;
  place.dataset.shown = key;
  place.className = "island " + (island ? "shown " + island.phase : "empty");
  if (!island) return place.replaceChildren(make("span", "nothing on the Island", "hidden"));
  const state = island.contentState;
  if (island.attributesType === "CoachAttributes") {
    place.replaceChildren(
      ring(state.goal > 0 ? state.calories / state.goal : 0),
      make("span", `${state.calories} of ${state.goal} kcal · ${state.lastMeal}`),
      make("span", `${state.streak} 🔥`));
  } else {
    const words = Object.entries(state).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    place.replaceChildren(make("span", words.join(" · ")));
  }
  if (island.phase === "stale") place.append(make("span", "stale"));
}

function showThread(messages) {
  const thread = element("thread");
  const ids = new Set(messages.map((message) => message.id));
  for (const child of [...thread.children]) if (!ids.has(child.dataset.id)) child.remove();
  const known = new Set([...thread.children].map((child) => child.dataset.id));
  for (const message of messages) {
    if (known.has(message.id)) continue;
    const bubble = make("li", message.text || "(picture)", message.direction);
    bubble.dataset.id = message.id;
    thread.append(bubble);
    thread.scrollTop = thread.scrollHeight;
  }
}

function show(state) {
  const messages = state.chats.flatMap((chat) => chat.messages).sort((a, b) => a.at.localeCompare(b.at));
  showThread(messages);
  element("typing").hidden = !state.chats.some((chat) => chat.isTyping);
  const phone = state.phones[0];
  deviceID = phone ? phone.deviceID : null;
  showIsland(phone ? phone.island : null);
  element("phone-state").textContent = phone
    ? `${phone.system}, ${phone.isOnline ? "online" : "offline"}, the app is in the ${phone.app}`.replace("in the force-quit", "force-quit")
    : "There is no phone yet: the first text makes one.";
  list("cards", (phone ? phone.cards : []).map((card) =>
    row(card.appliedAt, `${card.attributesType} ${card.phase}${card.hasToken ? "" : ", no update token yet"} ${JSON.stringify(card.contentState)}`)),
    "none");
  list("pushes", state.pushes.slice(-20).reverse().map((push) =>
    row(push.at, `${push.event} to …${push.token}: ${push.status} ${push.reason || ""}`, push.status === 200 ? "good" : "bad")),
    "none");
  list("dropped", (phone ? phone.dropped : []).slice(-20).reverse().map((drop) =>
    row(drop.at, `${drop.event}: ${drop.reason}`, "bad")), "nothing");
  list("registrations", (phone ? phone.registrations : []).slice(-10).reverse().map((said) =>
    row(said.at, `${said.method} ${said.path.replace(/^.*\/devices\//, "")}: ${said.status || "no answer"}`, said.status < 300 ? "good" : "bad")),
    "nothing said");
  list("webhooks", state.webhooks.slice(-10).reverse().map((hook) =>
    row(hook.at, `${hook.type}: ${hook.outcome}, ${hook.attempts} attempts`, hook.outcome === "taken" ? "good" : "bad")),
    "none");
}

function problem(text) {
  element("problem").textContent = text;
  element("problem").hidden = !text;
}

async function post(path, body) {
  try {
    const response = await fetch(path, {
      method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
    });
    const answer = await response.json();
    problem(response.ok ? "" : answer.detail || `that did not work (${response.status})`);
    return response.ok;
  } catch {
    problem("the simulator cannot be reached");
    return false;
  }
}

function connect() {
  if (events) events.close();
  element("handle").value = handle;
  localStorage.setItem("handle", handle);
  events = new EventSource("/events?user=" + encodeURIComponent(handle));
  events.onopen = () => { element("connection").textContent = "Live"; };
  events.onerror = () => { element("connection").textContent = "Disconnected; trying again…"; };
  events.addEventListener("state", (event) => show(JSON.parse(event.data)));
}

element("compose").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = element("text");
  if (await post("/control/texts", {from: handle, text: field.value})) field.value = "";
});

element("who").addEventListener("submit", (event) => {
  event.preventDefault();
  handle = element("handle").value.trim();
  connect();
});

element("phone-actions").addEventListener("click", (event) => {
  const name = event.target.dataset.event;
  if (name && deviceID) post(`/control/phones/${encodeURIComponent(deviceID)}/${name}`, {});
});

connect();
