// An order's card: what is in it, what it comes to, how far it is.
import { make } from "./dom.js";
import { money } from "./format.js";
import { box, fresh, label, symbol } from "./parts.js";

const STEPS = ["open", "placed", "preparing", "ready"];
const WORDS = { open: "Open", placed: "Placed", preparing: "Being made", ready: "Ready", cancelled: "Cancelled" };
const status = (state) => WORDS[state.status] ?? "In progress";
const total = (state) => money(state.total, state.currency);

function items(state) {
  const rows = state.items.slice(-3).map((item) =>
    make("p", { class: "item" },
      make("span", { class: "item-name", text: `${item.quantity} × ${item.name}` }),
      make("span", { text: money(item.price * item.quantity, state.currency) })));
  const others = state.itemCount - state.items.slice(-3).reduce((sum, item) => sum + item.quantity, 0);
  if (others > 0) rows.unshift(make("p", { class: "item faint", text: `and ${others} more` }));
  return rows;
}

const steps = (state) =>
  STEPS.map((step, index) => make("i", { class: index <= STEPS.indexOf(state.status) ? "step done" : "step" }));

export const order = {
  type: "OrderAttributes",
  name: "Order",
  kind: "order",
  contact: "North Kitchen",
  samples: ["two margheritas and a lemonade", "a tiramisu", "remove the lemonade", "place it"],
  words: (state) => `Order at ${state.merchant}: ${state.itemCount} items, ${total(state)}, ${status(state)}`,
  leading: () => box("badge-place", symbol("bag"), label("badge", (state) => String(state.itemCount || ""))),
  trailing: () => label("figure", total),
  minimal: () => box("badge-place", symbol("bag")),
  expanded: () =>
    box(
      "order-wide",
      box("head", symbol("bag"), label("strong", (state) => state.merchant), label("state-word", status)),
      fresh("items", items),
      box("foot", label("faint", () => "Total"), label("big", total)),
      fresh("steps", steps),
    ),
};
