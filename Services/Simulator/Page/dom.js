// Making elements. Whatever comes from outside goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Sets what is given: "class", "text", "on…" listeners, properties of the dataset as "data-…", else attributes. */
function set(element, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

export function make(tag, values = {}, ...children) {
  const element = set(document.createElement(tag), values);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function makeSVG(tag, values = {}, ...children) {
  const element = set(document.createElementNS(SVG, tag), values);
  element.append(...children);
  return element;
}

export const byID = (id) => document.getElementById(id);

/** What can be pressed or filled in stands in the page as disabled, until somebody listens to it. */
export function enable(form) {
  for (const control of form.elements) control.disabled = false;
}

/** Sets a text only if it is another one, so that screen readers and animations are left in peace. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes `nodes` the children, moving only what is out of place: what stays keeps its focus and its animation. */
export function sync(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  let place = parent.firstChild;
  for (const node of nodes) {
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
}

/** Rows that are kept by a key: `make` for a new one, `update` for all. */
export function keyedRows(parent, { key, create, update }) {
  const rows = new Map();
  return (items) => {
    const seen = new Set();
    const nodes = items.map((item) => {
      const id = key(item);
      seen.add(id);
      if (!rows.has(id)) rows.set(id, create(item));
      const row = rows.get(id);
      update(row, item);
      return row;
    });
    for (const id of [...rows.keys()]) if (!seen.has(id)) rows.delete(id);
    sync(parent, nodes);
    return nodes;
  };
}

export const wantsStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
