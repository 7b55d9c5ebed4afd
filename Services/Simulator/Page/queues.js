// How much waits in the broker's queues, by stage.
import { byID, make, write } from "./dom.js";

const WORDS = { inbound: "to the agent", replies: "to Linq", islands: "to APNs", parked: "parked" };
/** A bar is full at this many messages. */
const FULL = 50;

const tiles = new Map();

export function showQueues(depths) {
  const place = byID("queues");
  place.classList.toggle("is-unknown", !depths);
  for (const { stage, waiting, inHand } of depths ?? []) {
    if (!tiles.has(stage)) tiles.set(stage, tile(stage, place));
    const { number, note, fill, element } = tiles.get(stage);
    const all = waiting + inHand;
    write(number, String(all));
    write(note, inHand ? `${inHand} in hand` : WORDS[stage] ?? "");
    fill.style.width = `${Math.min(100, (100 * all) / FULL)}%`;
    element.dataset.tone = stage === "parked" && all ? "bad" : all ? "busy" : "good";
  }
}

function tile(stage, place) {
  const number = make("b");
  const note = make("span");
  const fill = make("i");
  const element = make("div", { class: "queue", "data-stage": stage },
    make("dt", { text: stage }), make("dd", {}, number, note, make("span", { class: "fill" }, fill)));
  place.append(element);
  return { number, note, fill, element };
}
