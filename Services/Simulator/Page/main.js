// Joins the parts: one state comes in, everything that shows it is told.
import { setUpActions, showActions } from "./actions.js";
import { announceIsland, announceMessages } from "./announcer.js";
import { setPhoneTime } from "./clock.js";
import { post, pressPhone } from "./commands.js";
import { setUpComposer } from "./composer.js";
import { follow } from "./connection.js";
import { byID, write } from "./dom.js";
import { setUpFaults, showFaults } from "./faults.js";
import { setUpIsland, showIsland } from "./island.js";
import { kinds } from "./kinds.js";
import { setUpLockScreen, showLockScreen } from "./lockscreen.js";
import { setUpOwnApp, showOwnApp } from "./ownapp.js";
import { go, showPhone } from "./phone.js";
import { showQueues } from "./queues.js";
import { showRegistrations } from "./registry.js";
import { session } from "./session.js";
import { current, onState, phoneOf } from "./store.js";
import { onMessages, setUpThread, showThread } from "./thread.js";
import { setUpTrails, showTrails } from "./trails.js";

/** How often times on the page are looked at, in milliseconds. */
const TICK = 5000;

const phoneIn = (state) => phoneOf(state, session.get("phone"));

function show(state) {
  const phone = phoneIn(state);
  const chats = state.person.chats;
  const chat = chats.find((one) => !one.isGroup && one.handles[0] === session.handle) ?? chats[0] ?? null;
  const agent = kinds.find((kind) => kind.kind === state.agent);
  write(byID("chat-name"), agent?.contact ?? "Messages");
  write(byID("avatar"), (agent?.contact ?? "M")[0]);
  showPhone(phone);
  showThread(chat, chat ? state.messageCounts[chat.id] : 0);
  showIsland(phone);
  showLockScreen(phone);
  showOwnApp(phone);
  showActions(state, phone);
  showFaults(state);
  showTrails(state);
  showRegistrations(phone);
  announceIsland(phone);
}

const again = () => current() && show(current());

setUpThread();
setUpComposer();
setUpIsland({ open: () => go("app", phoneIn(current())) });
setUpLockScreen({ swipe: (activityID) => pressPhone(phoneIn(current()).deviceID, "dismiss", { activityID }) });
setUpOwnApp();
setUpActions((text) => post("texts", { from: session.handle, text }));
setUpFaults();
setUpTrails();
onMessages(announceMessages);
onState((state) => {
  setPhoneTime(state.person.now);
  show(state);
});
session.onChange((name) => ["view", "phone"].includes(name) && again());
setInterval(again, TICK);
follow(session.handle, showQueues);
