// A checklist's card: how much is left, and what comes next.
import { make } from "./dom.js";
import { box, fresh, label, ring, symbol } from "./parts.js";

/** More than this many segments would be too thin to see. */
const MOST_SEGMENTS = 12;

const share = (state) => (state.total > 0 ? state.done / state.total : 0);
const progress = (state) => `${state.done}/${state.total}`;

function segments(state) {
  const count = Math.max(1, Math.min(state.total, MOST_SEGMENTS));
  const done = Math.round(share(state) * count);
  const segment = (_, index) => make("i", { class: index < done ? "segment done" : "segment" });
  return Array.from({ length: count }, segment);
}

export const checklist = {
  type: "ChecklistAttributes",
  name: "Checklist",
  kind: "checklist",
  contact: "Lists",
  samples: ["Moving day: pack the books, book the van, call Ada", "done with the books", "add water the plants"],
  words: (state) => `${state.title}: ${state.done} of ${state.total} done${state.next ? `, next ${state.next}` : ""}`,
  leading: () => ring(share, "ring small", 6),
  trailing: () => label("figure", progress),
  minimal: () => ring(share, "ring small", 6),
  expanded: () =>
    box(
      "checklist-wide",
      box("head", label("strong", (state) => state.title), label("state-word", (state) => `${progress(state)} done`)),
      fresh("segments", segments),
      box("todo", label("circle", ({ next }) => (next ? "○" : "")), label("next", ({ next }) => next ?? "All done")),
      box("todo faint", symbol("check"), label("struck", ({ lastDone }) => lastDone ?? "Nothing ticked off yet")),
    ),
};
