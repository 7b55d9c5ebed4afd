// The Dynamic Island: an idle pill, compact, minimal beside a second activity, or expanded by a long press.
// It is drawn from the states that the phone has decoded, and moves like a thing with weight.
import { phoneNow, secondsSince } from "./clock.js";
import { byID, make } from "./dom.js";
import { ago } from "./format.js";
import { icon } from "./icons.js";
import { kindOf } from "./kinds.js";

const LONG_PRESS = 350;

const body = make("div", { class: "island-body" });
const main = make(
  "button",
  {
    class: "island",
    type: "button",
    "aria-expanded": "false",
    "aria-label": "Dynamic Island: nothing on it",
    "data-form": "idle",
  },
  body,
);
const second = make("button", { class: "island second", type: "button", "data-form": "gone", tabindex: "-1" });

let shown = null;
let isOpen = false;
let actions = { open: () => {} };
let faces = null;
let secondFace = null;

export function setUpIsland(given) {
  actions = given;
  byID("island-place").append(main, second);
  pressable(main, () => toggle(true), () => shown && actions.open());
  pressable(second, () => {}, () => shown && actions.open());
  document.addEventListener("keydown", (event) => event.key === "Escape" && isOpen && toggle(false));
  document.addEventListener("pointerdown", (event) => isOpen && !main.contains(event.target) && toggle(false));
}

/** A long press, or Enter and the space bar, and what is read out as a press; a tap. */
function pressable(element, onLong, onTap) {
  let timer = 0;
  let wasLong = false;
  const cancel = () => {
    clearTimeout(timer);
    element.classList.remove("pressed");
  };
  element.addEventListener("pointerdown", () => {
    wasLong = false;
    element.classList.add("pressed");
    timer = setTimeout(() => {
      wasLong = true;
      cancel();
      onLong();
    }, LONG_PRESS);
  });
  for (const name of ["pointerup", "pointerleave", "pointercancel"]) element.addEventListener(name, cancel);
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener("click", (event) => {
    if (wasLong) wasLong = false;
    else if (event.detail === 0) toggle(!isOpen);
    else onTap();
  });
}

function toggle(open) {
  isOpen = open && shown !== null;
  layOut();
}

/** Shows what the Island has: the phone says which card, and which other one runs beside it. */
export function showIsland(phone) {
  const island = phone?.island ?? null;
  const other = island && phone.cards.find((card) => card.activityID !== island.activityID && card.phase !== "ended");
  if (shown?.activityID !== island?.activityID) {
    isOpen = false;
    faces = island && draw(island);
  }
  shown = island;
  main.dataset.kind = island ? kindOf(island.attributesType).kind : "";
  main.classList.toggle("is-stale", island?.phase === "stale");
  faces?.update(island);
  showSecond(other ?? null);
  layOut(other);
}

function draw(card) {
  const kind = kindOf(card.attributesType);
  const leading = kind.leading();
  const trailing = kind.trailing();
  const minimal = kind.minimal();
  const expanded = kind.expanded();
  const age = make("span", { class: "age" });
  const stale = make("p", { class: "stale-note", hidden: true }, icon("clock"), age);
  const wide = make("div", { class: "face expanded-face" }, expanded.element, stale);
  body.replaceChildren(
    make("div", { class: "face compact-face" },
      make("span", { class: "leading" }, leading.element), make("span", { class: "trailing" }, trailing.element)),
    make("div", { class: "face minimal-face" }, minimal.element), wide);
  return {
    wide,
    update(now) {
      for (const part of [leading, trailing, minimal, expanded]) part.update(now.contentState);
      stale.hidden = now.phase !== "stale";
      age.textContent = `Not up to date: ${ago(secondsSince(now.appliedAt))} old`;
    },
  };
}

function showSecond(card) {
  if (secondFace?.activityID !== card?.activityID) {
    const part = card && kindOf(card.attributesType).minimal();
    secondFace = card && { activityID: card.activityID, part };
    if (part) second.replaceChildren(part.element);
  }
  second.dataset.form = card ? "minimal" : "gone";
  second.tabIndex = -1;
  second.setAttribute("aria-hidden", card ? "false" : "true");
  if (!card) return second.removeAttribute("aria-label");
  const kind = kindOf(card.attributesType);
  second.dataset.kind = kind.kind;
  second.classList.toggle("is-stale", card.phase === "stale");
  second.setAttribute("aria-label", `Second activity, ${kind.name}: ${kind.words(card.contentState)}`);
  second.tabIndex = 0;
  secondFace.part.update(card.contentState);
}

/** Which form it has now, and how high that is. */
function layOut(other) {
  const hasSecond = second.dataset.form === "minimal";
  const form = !shown ? "idle" : isOpen ? "expanded" : hasSecond ? "minimal" : "compact";
  main.dataset.form = form;
  byID("island-place").dataset.form = form;
  main.setAttribute("aria-expanded", String(form === "expanded"));
  main.setAttribute("aria-label", islandWords(shown));
  main.style.setProperty("--high", form === "expanded" ? `${Math.ceil(faces.wide.offsetHeight)}px` : "");
  for (const face of body.children) face.setAttribute("aria-hidden", String(!face.classList.contains(`${form}-face`)));
}

/** What a screen reader hears of a card. */
export function islandWords(card) {
  if (!card) return "Dynamic Island: nothing on it";
  const kind = kindOf(card.attributesType);
  const stale = card.phase === "stale" ? `, not up to date since ${ago(secondsSince(card.staleAt ?? phoneNow()))}` : "";
  return `Dynamic Island, ${kind.name}: ${kind.words(card.contentState)}${stale}`;
}
