// What a person does with the phone, beside writing.
import { post, pressPhone } from "./commands.js";
import { byID, enable, make, sync, write } from "./dom.js";
import { kinds, kindOf } from "./kinds.js";
import { session } from "./session.js";
import { current, phoneOf } from "./store.js";

const HOUR = 3600;
const WORDS = {
  foreground: "the app is open",
  background: "Messages is open, the app in the background",
  "force-quit": "the app was force-quit",
};

/** An agent cannot read what another one has stored of a person, so one is somebody else to each. */
const PEOPLE = {
  coach: "+12025559876",
  order: "+12025559872",
  delivery: "+12025559873",
  balance: "+12025559874",
  checklist: "+12025559875",
};

/** Each button: what it says now, whether it can be pressed, what it does. */
const BUTTONS = [
  {
    id: "open",
    words: (phone) => (phone.app === "foreground" ? "Back to Messages" : "Open the app"),
    press: (phone) => pressPhone(phone.deviceID, phone.app === "foreground" ? "leave" : "open"),
  },
  {
    id: "dismiss",
    words: () => "Swipe card away",
    can: (phone) => phone.cards.length > 0,
    press: ({ deviceID, island, cards }) =>
      pressPhone(deviceID, "dismiss", { activityID: (island ?? cards[0]).activityID }),
  },
  {
    id: "quit",
    words: () => "Force-quit app",
    can: (phone) => phone.app !== "force-quit",
    press: (phone) => pressPhone(phone.deviceID, "force-quit"),
  },
  {
    id: "online",
    words: (phone) => (phone.isOnline ? "Go offline" : "Come back online"),
    press: (phone) => pressPhone(phone.deviceID, phone.isOnline ? "offline" : "online"),
  },
  {
    id: "system",
    words: (phone) => (phone.system === "iOS 18" ? "Switch to iOS 17" : "Switch to iOS 18"),
    press: (phone) => pressPhone(phone.deviceID, phone.system === "iOS 18" ? "ios17" : "ios18"),
  },
  {
    id: "hour",
    words: () => "An hour passes",
    can: (phone, state) => state.isSupervised,
    press: () => post("clock", { advanceSeconds: HOUR }),
  },
  {
    id: "second",
    words: () => "Second phone",
    can: (phone, state) => state.person.phones.length < 2,
    press: (phone, state) => addPhone(state),
  },
  {
    id: "activity",
    words: () => "Second activity",
    can: (phone) => phone.cards.every((card) => card.sessionID),
    press: startAnother,
  },
  { id: "reinstall", words: () => "Reinstall app", press: (phone) => pressPhone(phone.deviceID, "reinstall") },
];

function addPhone(state) {
  const { userID, handles } = state.person;
  const deviceID = `phone-${state.person.phones.length + 1}-${userID}`;
  return post("users", { userID, handles, phones: [{ deviceID, system: 18 }] });
}

/** The app starts a card of another kind by itself, and goes back behind Messages: two cards share the Island. */
async function startAnother(phone) {
  const hasBalance = phone.cards.some((card) => card.attributesType === "BalanceAttributes");
  const attributesType = hasBalance ? "CoachAttributes" : "BalanceAttributes";
  if (await pressPhone(phone.deviceID, "start", { attributesType })) await pressPhone(phone.deviceID, "leave");
}

const shownPhone = () => phoneOf(current(), session.get("phone"));

export function setUpActions(send) {
  byID("phone-buttons").append(...BUTTONS.map((button) => {
    const press = () => button.press(shownPhone(), current());
    // Until the first state nobody knows which phone there is.
    return make("button", { type: "button", "data-do": button.id, disabled: true, onclick: press });
  }));
  byID("samples").addEventListener("click", (event) => {
    const text = event.target.closest("button")?.textContent;
    if (text) send(text);
  });
  byID("agent-name").append(...kinds.map((kind) => make("option", { value: kind.kind, text: kind.name })));
  byID("agent").addEventListener("submit", (event) => {
    event.preventDefault();
    chooseAgent(byID("agent-name").value);
  });
  byID("who").addEventListener("submit", (event) => {
    event.preventDefault();
    session.become(byID("handle").value.trim());
  });
  byID("handle").value = session.handle;
  byID("agent-name").disabled = false;
  enable(byID("who"));
}

async function chooseAgent(agent) {
  if (await post("agent", { agent })) session.become(PEOPLE[agent]);
}

let agentShown = null;

export function showActions(state, phone) {
  write(byID("phone-state"), phone
    ? `${phone.system}, ${phone.isOnline ? "online" : "offline"}, ${WORDS[phone.app]}.`
    : "There is no phone yet: the first text makes one, with the app on it.");
  BUTTONS.forEach((button, index) => {
    const element = byID("phone-buttons").children[index];
    write(element, phone ? button.words(phone) : button.words({ isOnline: true, system: "iOS 18" }));
    element.disabled = !phone || !(button.can?.(phone, state) ?? true);
  });
  showAgent(state);
  choices("phone-choice", state.person.phones.map((one, index) => ({
    label: `iPhone ${index + 1}`, isOn: one === phone, press: () => session.set("phone", one.deviceID),
  })), 2);
}

function showAgent(state) {
  byID("agent").querySelector("button").disabled = !state.isSupervised;
  if (state.agent === agentShown) return;
  agentShown = state.agent;
  byID("agent-name").value = state.agent;
  const kind = kinds.find((one) => one.kind === state.agent) ?? kindOf("");
  byID("samples").replaceChildren(...kind.samples.map((text) => make("button", { type: "button", text })));
}

/** A row of buttons of which one is pressed; hidden if there are fewer than `least`. */
export function choices(id, items, least = 1) {
  const place = byID(id);
  place.hidden = items.length < least;
  const buttons = items.map((item, index) => {
    const button = place.children[index] ?? make("button", { type: "button" });
    button.onclick = item.press;
    button.disabled = item.isDisabled ?? false;
    write(button, item.label);
    button.setAttribute("aria-pressed", String(item.isOn));
    return button;
  });
  sync(place, buttons);
}
