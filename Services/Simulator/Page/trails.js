// The way of each text, hop by hop. What went wrong on it is red, what waits or was made void is grey.
import { get } from "./commands.js";
import { byID, keyedRows, make, sync, write } from "./dom.js";
import { exactTime, span } from "./format.js";

const STEPS = {
  written: "Written", webhook: "Webhook", confirmed: "Confirmed", taken: "Agent took it", worked: "Agent done",
  sent: "On its way", replied: "Reply", pushed: "Push", decoded: "Phone",
};

const parts = new WeakMap();
let showRows = () => {};

export function setUpTrails() {
  showRows = keyedRows(byID("trails"), { key: (trail) => trail.id, create, update });
}

export function showTrails(state) {
  const trails = [...state.trails].reverse();
  byID("trails").dataset.empty = trails.length === 0 ? "The first text shows its way here." : "";
  showRows(trails);
  // That of the newest text is open, until somebody opens or closes one.
  const newest = trails.findIndex((trail) => trail.isText);
  [...byID("trails").children].forEach((row, index) => {
    const { details } = parts.get(row);
    if (!details.dataset.touched) details.open = index === newest;
  });
  const lost = state.texts - state.answered;
  write(byID("tally"), state.texts === 0
    ? "Nothing was texted yet."
    : lost === 0
      ? `${count(state.texts)}, ${state.texts === 1 ? "it is" : "all"} answered: nothing was lost.`
      : `${count(state.texts)}, ${state.answered} answered, ${lost} on the way.`);
  byID("tally").dataset.tone = lost === 0 ? "good" : "idle";
}

const count = (texts) => (texts === 1 ? "One text" : `${texts} texts`);

function create(trail) {
  const title = make("span", { class: "trail-title", text: trail.title || "(no words)" });
  const result = make("span", { class: "trail-result" });
  const hops = make("ol", { class: "hops" });
  const summary = make("summary", {}, title, result);
  const details = make("details", {}, summary, hops);
  summary.addEventListener("click", () => (details.dataset.touched = "yes"));
  const row = make("li", { class: trail.isText ? "trail" : "trail is-own" }, details);
  const showHops = keyedRows(hops, {
    key: (hop) => hop.number,
    create: (hop) => createHop(hop, trail),
    update: updateHop,
  });
  parts.set(row, { details, result, showHops });
  return row;
}

function update(row, trail) {
  const { result, showHops } = parts.get(row);
  const began = new Date(trail.beganAt).getTime();
  showHops(trail.hops.map((hop) => ({ ...hop, after: (new Date(hop.at).getTime() - began) / 1000 })));
  row.dataset.tone = trail.hops.some((hop) => hop.tone === "bad") ? "bad" : "good";
  write(result, summary(trail, began));
}

/** "reply 44 ms · Island 66 ms". */
function summary(trail, began) {
  const after = (step) => {
    const hop = trail.hops.find((one) => one.step === step && one.tone === "good");
    return hop && span(Math.max(0, (new Date(hop.at).getTime() - began) / 1000));
  };
  const [reply, phone] = [after("replied"), after("decoded")];
  const words = [reply && `reply ${reply}`, phone && `Island ${phone}`].filter(Boolean);
  return words.length ? words.join(" · ") : trail.isText ? "on the way" : "";
}

function createHop(hop, trail) {
  const name = make("span", { class: "hop-name", text: STEPS[hop.step] ?? hop.step });
  const words = make("span", { class: "hop-words", text: hop.words });
  const after = make("span", { class: "hop-after" });
  const took = hop.seconds ? `, took ${span(hop.seconds)}` : "";
  const time = make("time", { class: "hop-time", datetime: hop.at, text: exactTime(new Date(hop.at)) + took });
  const content = [make("i", { class: "dot" }), name, words, after, time];
  const head = hop.hasMessage
    ? make("button", { type: "button", class: "hop-head", "aria-expanded": "false" }, ...content)
    : make("div", { class: "hop-head" }, ...content);
  if (hop.hasMessage) head.addEventListener("click", () => showMessage(row, head, trail.id, hop.number));
  const row = make("li", { class: "hop", "data-tone": hop.tone, "data-step": hop.step }, head);
  parts.set(row, { after });
  return row;
}

function updateHop(row, hop) {
  write(parts.get(row).after, `+${span(Math.max(0, hop.after))}`);
}

async function showMessage(row, head, trail, number) {
  const open = row.querySelector("pre");
  head.setAttribute("aria-expanded", String(!open));
  if (open) return open.remove();
  const answer = await get(`trails/${encodeURIComponent(trail)}/${number}`);
  const text = answer ? pretty(answer.message) : "This message is no longer remembered.";
  sync(row, [head, make("pre", { text, tabindex: "0", "aria-label": "The message" })]);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Cut off, or no JSON at all: as it is.
    return text;
  }
}
