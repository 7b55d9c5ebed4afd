// The stream of states. It comes back by itself, however long the simulator is away.
import { byID, write } from "./dom.js";
import { publish } from "./store.js";

const PAUSE = 1000;
const WORDS = { loading: "Connecting…", live: "Live", lost: "Disconnected; trying again…" };

let source = null;
let again = null;
let handle = null;

export function follow(newHandle, onQueues) {
  handle = newHandle;
  open(onQueues);
  // A hidden page lets go of its connection: a browser has only six for one address.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (!source) open(onQueues);
  });
}

function open(onQueues) {
  close();
  show(source === null && byID("stage").dataset.state === "loading" ? "loading" : "lost");
  const mine = new EventSource("/events?user=" + encodeURIComponent(handle));
  source = mine;
  mine.addEventListener("state", (event) => {
    show("live");
    publish(JSON.parse(event.data));
  });
  mine.addEventListener("queues", (event) => onQueues(JSON.parse(event.data)));
  mine.onerror = () => {
    show("lost");
    // The browser itself tries again only after a cut connection, not after a refusal.
    if (mine.readyState === EventSource.CLOSED && source === mine) {
      close();
      again = setTimeout(() => open(onQueues), PAUSE);
    }
  };
}

function close() {
  clearTimeout(again);
  source?.close();
  source = null;
}

function show(state) {
  const place = byID("connection");
  place.dataset.state = state;
  write(place, WORDS[state]);
  byID("stage").dataset.state = state;
}
