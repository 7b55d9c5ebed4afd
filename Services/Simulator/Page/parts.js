// What the cards are made of. A part is drawn once and then only moved: {element, update(state)}.
import { make, makeSVG, wantsStillness, write } from "./dom.js";
import { grouped } from "./format.js";
import { icon } from "./icons.js";

export function box(className, ...parts) {
  const element = make("div", { class: className }, ...parts.map((part) => part.element));
  return {
    element,
    update: (state) => {
      for (const part of parts) part.update(state);
    },
  };
}

/** A text that follows from the state; an empty one takes no room. */
export function label(className, words) {
  const element = make("span", { class: className });
  return {
    element,
    update(state) {
      const text = words(state) ?? "";
      write(element, text);
      element.hidden = text === "";
    },
  };
}

export function symbol(name, className) {
  return { element: icon(name, className ?? "icon"), update: () => {} };
}

/** A number that runs from the one before to the new one. */
export function counter(className, value, words = grouped) {
  const element = make("span", { class: className });
  let shown = null;
  let frame = 0;
  return {
    element,
    update(state) {
      const goal = value(state);
      const from = shown;
      shown = goal;
      cancelAnimationFrame(frame);
      if (from === null || from === goal || wantsStillness()) return write(element, words(goal));
      let began = null;
      const step = (now) => {
        began ??= now;
        const part = Math.min(1, (now - began) / 700);
        write(element, words(Math.round(from + (goal - from) * (1 - (1 - part) ** 3))));
        if (part < 1) frame = requestAnimationFrame(step);
      };
      frame = requestAnimationFrame(step);
    },
  };
}

/** A ring that fills; beyond its goal it goes round once more in a second colour. */
export function ring(share, className = "ring", width = 5) {
  const radius = 18 - width / 2;
  const length = 2 * Math.PI * radius;
  const circle = (name) => makeSVG("circle", {
    class: name, cx: 18, cy: 18, r: radius, "stroke-width": width, "stroke-dasharray": length,
    "stroke-dashoffset": name === "track" ? 0 : length,
  });
  const done = circle("done");
  const over = circle("over");
  const element = makeSVG("svg", { class: className, viewBox: "0 0 36 36", "aria-hidden": "true" },
    circle("track"), done, over);
  const fill = (which, part) => which.setAttribute("stroke-dashoffset", (length * (1 - part)).toFixed(2));
  return {
    element,
    update(state) {
      const part = share(state);
      element.dataset.share = part.toFixed(3);
      fill(done, Math.min(1, Math.max(0, part)));
      fill(over, Math.min(1, Math.max(0, part - 1)));
      element.classList.toggle("is-over", part > 1);
    },
  };
}

/** A bar that fills. */
export function bar(share, className = "bar") {
  const filled = make("i");
  const element = make("span", { class: className }, filled);
  return {
    element,
    update(state) {
      filled.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share(state))))}%`;
    },
  };
}

/** Something that is made anew whenever the state has changed: for lists that are short. */
export function fresh(className, build) {
  const element = make("div", { class: className });
  let before = null;
  return {
    element,
    update(state) {
      const nodes = build(state);
      const key = nodes.map((node) => node.outerHTML).join("");
      if (key === before) return;
      before = key;
      element.replaceChildren(...nodes);
    },
  };
}
