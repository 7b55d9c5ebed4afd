// A delivery's card: where it is, and when it will be there.
import { phoneNow } from "./clock.js";
import { make } from "./dom.js";
import { timeOfDay } from "./format.js";
import { icon } from "./icons.js";
import { box, label, symbol } from "./parts.js";

const WORDS = { preparing: "Being prepared", enRoute: "On the way", nearby: "Almost there", delivered: "Delivered" };
const phase = (state) => WORDS[state.phase] ?? "In progress";

function minutes(state) {
  if (state.phase === "delivered") return "Here";
  const left = Math.ceil((state.etaEpoch - phoneNow().getTime() / 1000) / 60);
  return left > 0 ? `${left} min` : "now";
}

const arrival = (state) => `arrives ${timeOfDay(new Date(state.etaEpoch * 1000))}`;

/** The way from the shop to the door, with who brings it on it. */
function route() {
  const rider = make("span", { class: "rider" }, icon("scooter"));
  const done = make("i", { class: "road-done" });
  const line = make("span", { class: "road-line" }, done, rider);
  const element = make("div", { class: "road" }, icon("shop", "icon end"), line, icon("house", "icon end"));
  return {
    element,
    update(state) {
      const part = `${Math.round(100 * Math.min(1, Math.max(0, state.progress)))}%`;
      rider.style.left = part;
      done.style.width = part;
    },
  };
}

export const delivery = {
  type: "DeliveryAttributes",
  name: "Delivery",
  kind: "delivery",
  contact: "Deliveries",
  samples: ["order from Mario's, 20 min", "where is it?"],
  words: (state) => `Delivery from ${state.merchant}: ${phase(state)}, ${minutes(state)}`,
  leading: () => symbol("scooter"),
  trailing: () => label("figure", minutes),
  minimal: () => symbol("scooter"),
  expanded: () =>
    box(
      "delivery-wide",
      box("head", label("strong", (state) => state.merchant), label("state-word", phase)),
      box("eta", label("big", minutes), label("faint", arrival)),
      route(),
      label("faint", (state) => (state.courier ? `${state.courier} brings it` : "")),
    ),
};
