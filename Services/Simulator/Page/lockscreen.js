// The Lock Screen: the time, and every card that is still on the phone, also the ended ones until they go.
import { phoneNow, secondsSince } from "./clock.js";
import { byID, keyedRows, make, write } from "./dom.js";
import { ago, dayInFull, statusTime, timeOfDay } from "./format.js";
import { icon } from "./icons.js";
import { kindOf } from "./kinds.js";

const faces = new WeakMap();
let swipe = () => {};
let showCards = () => {};

export function setUpLockScreen(actions) {
  swipe = actions.swipe;
  showCards = keyedRows(byID("lock-list"), { key: (card) => card.activityID, create, update });
}

export function showLockScreen(phone) {
  write(byID("lock-time"), statusTime(phoneNow()));
  write(byID("lock-date"), dayInFull(phoneNow()));
  const cards = [...(phone?.cards ?? [])].sort((a, b) => b.relevanceScore - a.relevanceScore);
  byID("lock-list").classList.toggle("is-empty", cards.length === 0);
  showCards(cards);
}

function create(card) {
  const kind = kindOf(card.attributesType);
  const part = kind.expanded();
  const note = make("p", { class: "card-note", hidden: true }, icon("clock"), make("span"));
  const words = `Swipe the ${kind.name} card away`;
  const close = make("button", { type: "button", class: "card-close", "aria-label": words }, icon("cross"));
  close.addEventListener("click", () => swipe(card.activityID));
  const name = make("span", { class: "card-name", text: kind.name });
  const head = make("div", { class: "card-head" }, name, close);
  const row = make("li", { class: "card", "data-kind": kind.kind }, head, part.element, note);
  draggable(row, () => swipe(card.activityID));
  faces.set(row, { part, note });
  return row;
}

function update(row, card) {
  const { part, note } = faces.get(row);
  part.update(card.contentState);
  row.classList.toggle("is-stale", card.phase === "stale");
  row.classList.toggle("is-ended", card.phase === "ended");
  note.hidden = card.phase === "active";
  write(note.lastChild, card.phase === "ended"
    ? `Ended; leaves at ${timeOfDay(new Date(card.removedAt))}`
    : `Not up to date: ${ago(secondsSince(card.appliedAt))} old`);
}

/** A card follows the finger to the left, and goes when it was drawn far enough. */
function draggable(row, onAway) {
  let start = null;
  row.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button")) return;
    start = event.clientX;
    // It is drawn on outside of the screen, too.
    row.setPointerCapture(event.pointerId);
  });
  row.addEventListener("pointermove", (event) => {
    if (start === null) return;
    row.style.transform = `translateX(${Math.min(0, event.clientX - start)}px)`;
  });
  const letGo = () => {
    start = null;
    row.style.transform = "";
  };
  row.addEventListener("pointerup", (event) => {
    const isAway = start !== null && start - event.clientX > row.offsetWidth * 0.35;
    letGo();
    if (isAway) onAway();
  });
  row.addEventListener("pointercancel", letGo);
}
