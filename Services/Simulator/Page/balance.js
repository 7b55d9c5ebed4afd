// A balance's card: money or points, and what moved them last.
import { grouped, money } from "./format.js";
import { bar, box, counter, label, symbol } from "./parts.js";

const amount = (state) => money(state.balance, state.unit);
const unit = (state) => (state.unit === "points" ? "points" : "");
const change = (state) => `${state.lastChange < 0 ? "−" : "+"}${money(Math.abs(state.lastChange), state.unit)}`;
const share = (state) => (state.target ? state.balance / state.target : 0);

function target(state) {
  if (!state.target) return "";
  const left = state.target - state.balance;
  return left > 0 ? `${money(left, state.unit)} to go until ${money(state.target, state.unit)}` : "Target reached";
}

/** The last change, green when something came in. */
function lastChange() {
  const words = label("change", (state) => (state.lastChange ? change(state) : ""));
  return {
    element: words.element,
    update(state) {
      words.update(state);
      words.element.classList.toggle("spent", state.lastChange < 0);
    },
  };
}

/** Points are counted up; money has its two decimals. */
function figure(className) {
  const points = counter(className, (state) => state.balance, grouped);
  const other = label(className, amount);
  return {
    element: box("either", points, other).element,
    update(state) {
      const isPoints = state.unit === "points";
      (isPoints ? points : other).update(state);
      points.element.hidden = !isPoints;
      other.element.hidden = isPoints;
    },
  };
}

export const balance = {
  type: "BalanceAttributes",
  name: "Balance",
  kind: "balance",
  contact: "Points",
  samples: ["earned 120 points for two coffees", "spent 50 points on a cookie", "save up for 2500 points", "undo"],
  words: (state) => `Balance ${amount(state)} ${unit(state)}, ${change(state)} for ${state.lastEntry}`,
  leading: () => symbol("star"),
  trailing: () => figure("figure"),
  minimal: () => symbol("star"),
  expanded: () =>
    box("balance-wide",
      box("balance-total", symbol("star"), figure("huge"), label("unit", unit)),
      box("balance-entry", label("meal", (state) => state.lastEntry), lastChange()),
      bar(share),
      label("faint", target)),
};
