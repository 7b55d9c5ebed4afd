// Things to break. What waits to go wrong is said, and the tally beside shows that nothing is lost.
import { post, pressPhone } from "./commands.js";
import { byID, make, write } from "./dom.js";
import { session } from "./session.js";
import { current, phoneOf } from "./store.js";

const BUTTONS = [
  {
    id: "linq-429",
    words: "Linq answers 429",
    press: () => post("faults", { linq: "rate-limited", count: 2, retryAfter: 1 }),
  },
  { id: "apns-410", words: "APNs answers 410", press: () => post("faults", { apns: "gone", count: 1 }) },
  {
    id: "lose-token",
    words: "Lose the token",
    needsPhone: true,
    press: (phone) => pressPhone(phone.deviceID, "rotate-tokens"),
  },
  {
    id: "kill-agent",
    words: "Kill the agent",
    needsSupervisor: true,
    press: () => post("kill", { service: "agent" }),
  },
  {
    id: "kill-pusher",
    words: "Kill the pusher",
    needsSupervisor: true,
    press: () => post("kill", { service: "apns-pusher" }),
  },
];

const DONE = {
  "apns-410": "The registry has given the token up. Open the app: it registers again, and the newest state comes.",
  "lose-token": "ActivityKit has changed the tokens: the old ones are dead, the app registers the new ones.",
  "kill-agent": "The agent was killed without a warning; it comes back within seconds and goes on where it was.",
  "kill-pusher": "The pusher was killed without a warning; it comes back within seconds and goes on where it was.",
};

let lastDone = "";

export function setUpFaults() {
  const element = (button) => {
    const values = { type: "button", class: "fault", "data-do": button.id, text: button.words, disabled: true };
    return make("button", { ...values, onclick: () => press(button) });
  };
  byID("fault-buttons").append(...BUTTONS.map(element));
}

async function press(button) {
  if (await button.press(phoneOf(current(), session.get("phone")))) lastDone = DONE[button.id] ?? "";
  showFaults(current());
}

export function showFaults(state) {
  const hasPhone = state.person.phones.length > 0;
  BUTTONS.forEach((button, index) => {
    byID("fault-buttons").children[index].disabled =
      (button.needsPhone && !hasPhone) || (button.needsSupervisor && !state.isSupervised) || false;
  });
  byID("unsupervised").hidden = state.isSupervised;
  const waiting = [];
  const { linq, apns } = state.faults;
  if (linq) waiting.push(`Linq refuses the next ${times(linq, "reply", "replies")} with 429.`);
  if (apns) waiting.push(`APNs refuses the next ${times(apns, "push", "pushes")} with 410, as if the token were dead.`);
  write(byID("fault-state"), waiting.join(" ") || lastDone);
}

const times = (count, one, many) => (count === 1 ? one : `${count} ${many}`);
