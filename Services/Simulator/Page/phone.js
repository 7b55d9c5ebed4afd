// The phone as a whole: which of its screens is in front, and what stands above all of them.
import { choices } from "./actions.js";
import { phoneNow } from "./clock.js";
import { pressPhone } from "./commands.js";
import { byID, make, write } from "./dom.js";
import { statusTime } from "./format.js";
import { icon } from "./icons.js";
import { session } from "./session.js";

const VIEWS = { messages: "Messages", lock: "Lock Screen", app: "The app" };
let connectionShown = null;

export function showPhone(phone) {
  const view = phone?.app === "foreground" ? "app" : session.get("view", "messages");
  byID("screen").dataset.view = view;
  byID("messages").hidden = view !== "messages";
  byID("lock").hidden = view !== "lock";
  byID("own-app").hidden = view !== "app";
  choices("view-choice", Object.entries(VIEWS).map(([name, label]) => ({
    label, isOn: name === view, isDisabled: name === "app" && !phone, press: () => go(name, phone),
  })));
  showClock();
  showConnection(phone?.isOnline ?? true);
}

export async function go(view, phone) {
  if (view === "app") return pressPhone(phone.deviceID, "open");
  if (phone?.app === "foreground") await pressPhone(phone.deviceID, "leave");
  session.set("view", view);
}

export const showClock = () => write(byID("status-time"), statusTime(phoneNow()));

function showConnection(isOnline) {
  if (connectionShown === isOnline) return;
  connectionShown = isOnline;
  const place = byID("status-icons");
  place.setAttribute("aria-label", isOnline ? "Online, battery full" : "Airplane mode, battery full");
  const bars = make("span", { class: "signal" }, make("i"), make("i"), make("i"), make("i"));
  place.replaceChildren(isOnline ? bars : icon("plane"), make("span", { class: "battery" }));
}
