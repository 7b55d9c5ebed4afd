// What the app has told the registry: its tokens, its cards, what was swiped away.
import { byID, make } from "./dom.js";
import { exactTime } from "./format.js";

const MOST = 12;
let before = null;

export function showRegistrations(phone) {
  const said = (phone?.registrations ?? []).slice(-MOST).reverse();
  const key = JSON.stringify(said);
  if (key === before) return;
  before = key;
  byID("registrations").replaceChildren(...said.map(row));
}

function row(said) {
  const isTaken = said.status >= 200 && said.status < 300;
  const words = ` ${said.method} ${shorten(said.path)}: ${said.status ?? "no answer"}`;
  const time = make("time", { text: exactTime(new Date(said.at)) });
  return make("li", { "data-tone": isTaken ? "good" : "bad" }, time, words);
}

const shorten = (path) => path.replace(/^.*\/devices\/[^/]+/, "").replace(/([0-9A-F]{8})-[0-9A-F-]+/, "$1…");
