// The app itself, when it is open: it owns the screen, so its Island is gone.
import { byID, keyedRows, make, write } from "./dom.js";
import { kindOf } from "./kinds.js";

const faces = new WeakMap();
const title = make("h2");
const list = make("ul", { class: "app-cards" });
const showCards = keyedRows(list, { key: (card) => card.activityID, create, update });

export function setUpOwnApp() {
  const text =
    "The app is in front and owns the whole screen: iOS shows its Live Activity in the Island only while it is in " +
    "the background.";
  byID("own-app").append(title, list, make("p", { class: "app-note", text }));
}

export function showOwnApp(phone) {
  const cards = (phone?.cards ?? []).filter((card) => card.phase !== "ended");
  write(title, cards.length ? "Today" : "Nothing runs yet");
  showCards(cards);
}

function create(card) {
  const kind = kindOf(card.attributesType);
  const part = kind.expanded();
  const row = make("li", { class: "card", "data-kind": kind.kind }, part.element);
  faces.set(row, part);
  return row;
}

function update(row, card) {
  faces.get(row).update(card.contentState);
  row.classList.toggle("is-stale", card.phase === "stale");
}
