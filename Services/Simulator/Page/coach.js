// The coach's card: a ring of calories, and the days in a row.
import { grouped } from "./format.js";
import { box, counter, label, ring, symbol } from "./parts.js";

const share = (state) => (state.goal > 0 ? state.calories / state.goal : 0);
const streak = () => box("streak", symbol("flame"), label("streak-days", (state) => String(state.streak)));

function left(state) {
  const rest = state.goal - state.calories;
  return rest >= 0 ? `${grouped(rest)} left` : `${grouped(-rest)} over`;
}

/** What the ring stands for, in figures. */
const figures = () =>
  box(
    "coach-figures",
    box(
      "coach-total",
      counter("big", (state) => state.calories),
      label("unit", (state) => `of ${grouped(state.goal)} cal`),
    ),
    label("strong tinted", left),
  );

export const coach = {
  type: "CoachAttributes",
  name: "Coach",
  kind: "coach",
  contact: "Coach",
  samples: ["just had a chicken bowl, ~600 cal", "two eggs 140 and toast 90", "how am I doing?", "undo"],
  words: ({ calories, goal, streak, lastMeal }) =>
    `${grouped(calories)} of ${grouped(goal)} calories, ${streak} days in a row, last ${lastMeal}`,
  leading: () => ring(share, "ring small", 6),
  trailing: () => counter("figure", (state) => state.calories),
  minimal: () => ring(share, "ring small", 6),
  expanded: () =>
    box(
      "coach-wide",
      ring(share, "ring large", 4.5),
      figures(),
      streak(),
      box("coach-meal", symbol("fork"), label("meal", (state) => state.lastMeal)),
    ),
};
