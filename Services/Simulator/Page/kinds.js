// The five kinds of Island, each with a look of its own, and a plain one for a kind that this page does not know.
import { balance } from "./balance.js";
import { checklist } from "./checklist.js";
import { coach } from "./coach.js";
import { delivery } from "./delivery.js";
import { order } from "./order.js";
import { box, label, symbol } from "./parts.js";

export const kinds = [coach, order, delivery, balance, checklist];

const plain = {
  type: "",
  name: "Activity",
  kind: "plain",
  contact: "Messages",
  samples: [],
  words: (state) => JSON.stringify(state),
  leading: () => symbol("clock"),
  trailing: () => label("figure", () => "…"),
  minimal: () => symbol("clock"),
  expanded: () => box("plain-wide", label("meal", (state) => JSON.stringify(state))),
};

export const kindOf = (attributesType) => kinds.find((kind) => kind.type === attributesType) ?? plain;
