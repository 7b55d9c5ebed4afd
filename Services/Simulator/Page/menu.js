// A small menu above what it belongs to: arrow keys, Escape, and the focus goes back to where it was.
import { byID, make } from "./dom.js";

let closeOpen = () => {};

/** Shows `items` ({element, label, isOn, action}); `onClose` is told when it is over. */
export function openMenu(anchor, label, className, items, onClose = () => {}) {
  closeOpen();
  const before = document.activeElement;
  const buttons = items.map((item) => {
    const button = make("button", { type: "button", "aria-label": item.label, title: item.label }, item.element);
    button.setAttribute("role", item.isOn === undefined ? "menuitem" : "menuitemcheckbox");
    if (item.isOn !== undefined) button.setAttribute("aria-checked", String(item.isOn));
    button.addEventListener("click", () => {
      close();
      item.action();
    });
    return button;
  });
  const menu = make("div", { class: `menu ${className}`, role: "menu", "aria-label": label }, ...buttons);
  const close = () => {
    menu.remove();
    document.removeEventListener("pointerdown", outside, true);
    closeOpen = () => {};
    before?.focus?.({ preventScroll: true });
    onClose();
  };
  const outside = (event) => {
    if (!menu.contains(event.target)) close();
  };
  menu.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", outside, true);
  closeOpen = close;
  byID("tapback-place").append(menu);
  place(menu, anchor);
  buttons[0]?.focus({ preventScroll: true });
}

function place(menu, anchor) {
  const at = anchor.getBoundingClientRect();
  const width = menu.offsetWidth;
  const left = Math.max(8, Math.min(at.left + at.width / 2 - width / 2, innerWidth - width - 8));
  const top = at.top > menu.offsetHeight + 12 ? at.top - menu.offsetHeight - 8 : at.bottom + 8;
  menu.style.left = `${left + scrollX}px`;
  menu.style.top = `${top + scrollY}px`;
}
