// The conversation. However long it is, only a stretch of it is on the page; the rest comes as one scrolls.
import { makeBubble, updateBubble, wordsOf } from "./bubble.js";
import { phoneNow } from "./clock.js";
import { get } from "./commands.js";
import { byID, keyedRows, wantsStillness, write } from "./dom.js";
import { stretch, timeOfDay } from "./format.js";
import { openTapbacks } from "./tapback.js";

const WINDOW = 80;
const STEP = 40;
/** Scrolled this near to an end, in pixels, more is shown there. */
const NEAR = 240;
/** A pause as long as this begins a new stretch with its time above. */
const STRETCH = 15 * 60 * 1000;

const thread = byID("thread");
const listeners = new Set();
let chat = null;
/** The messages that are known, the oldest first, and how many there are in all. */
let known = [];
let total = 0;
/** The part of `known` that is on the page. */
let from = 0;
let to = 0;
let isFetching = false;
/** What is there when the page opens is no news; all that comes later is, also the first message of a thread. */
let hasOpened = false;
/** Whether the end is looked at: then it stays in sight, whatever comes. */
let isPinned = true;
/** While it scrolls by itself, nobody is reading elsewhere. */
let isGliding = false;
let lastTop = 0;
let rows = () => [];

export function setUpThread() {
  rows = keyedRows(byID("bubbles"), {
    key: (item) => item.message.id,
    create: (item) => makeBubble(item.message),
    update: (row, item) => updateBubble(row, item.message, item),
  });
  thread.addEventListener("scroll", onScroll, { passive: true });
  thread.addEventListener("scrollend", () => (isGliding = false));
  for (const name of ["wheel", "touchstart", "keydown"]) {
    thread.addEventListener(name, () => (isGliding = false), { passive: true });
  }
  thread.addEventListener("keydown", onKey);
  byID("bubbles").addEventListener("click", (event) => {
    const bubble = event.target.closest(".bubble");
    if (bubble && !getSelection()?.toString()) open(bubble);
  });
}

/** Who writes wants to see it: from now on the end stays in sight. */
export function lookAtEnd() {
  isPinned = true;
  showEnd();
  render();
  toEnd(true);
}

export const onMessages = (listener) => listeners.add(listener);

/** Takes the end of the thread as the simulator tells it. */
export function showThread(newChat, count) {
  const isOther = newChat?.id !== chat?.id;
  chat = newChat;
  if (isOther) known = [];
  if (isOther) isPinned = true;
  const before = new Set(known.map((message) => message.id));
  const wasEmpty = known.length === 0;
  merge(chat?.messages ?? [], count);
  if (isPinned || to > known.length) showEnd();
  render();
  const news = hasOpened ? known.filter((message) => !before.has(message.id)) : [];
  hasOpened = true;
  for (const row of byID("bubbles").children) {
    if (news.some((message) => message.id === row.dataset.id)) row.classList.add("is-new");
  }
  byID("typing").hidden = !chat?.isTyping;
  lastTop = thread.scrollTop;
  if (isPinned) toEnd(isOther || wasEmpty);
  write(byID("thread-note"), note(count));
  if (news.length) for (const listener of listeners) listener(news.map((one) => ({ ...one, words: wordsOf(one) })));
}

function note(count) {
  if (!chat || count === 0) return "No messages yet. Text something below: the agent answers, and the Island appears.";
  return chat.isOptedOut ? "You have opted out: this line sends nothing any more." : "";
}

/** Joins the tail to what is known; if nothing of it is known, the tail is all. */
function merge(tail, count) {
  const index = tail.length ? known.findIndex((message) => message.id === tail[0].id) : -1;
  const added = index < 0 ? tail : [...known.slice(0, index), ...tail];
  if (index < 0) from = 0;
  known = added;
  total = count;
}

function showEnd() {
  to = known.length;
  from = Math.max(0, to - WINDOW);
}

function render() {
  to = Math.min(Math.max(to, 0), known.length);
  const lastMine = known.findLastIndex((message) => message.direction === "inbound");
  const items = known.slice(from, to).map((message, index) => {
    const place = from + index;
    const previous = known[place - 1];
    const next = known[place + 1];
    const at = new Date(message.at);
    const isStretch = !previous || at - new Date(previous.at) > STRETCH;
    return {
      message,
      above: isStretch ? stretch(at, phoneNow()) : null,
      isLast: !next || next.direction !== message.direction || new Date(next.at) - at > STRETCH,
      fate: place === lastMine ? fateOf(message) : null,
      isGreen: message.service !== "iMessage",
    };
  });
  rows(items);
}

function fateOf(message) {
  if (message.service !== "iMessage") return "Sent as Text Message";
  return message.readAt ? `Read ${timeOfDay(new Date(message.readAt))}` : "Delivered";
}

// MARK: Scrolling

const isAtEnd = () => to >= known.length && thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80;

function toEnd(atOnce) {
  const isThere = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 2;
  if (isThere) return;
  isGliding = !atOnce && !wantsStillness();
  thread.scrollTo({ top: thread.scrollHeight, behavior: atOnce || wantsStillness() ? "instant" : "smooth" });
}

function onScroll() {
  // By itself it only ever goes down.
  if (thread.scrollTop < lastTop - 1) isGliding = false;
  lastTop = thread.scrollTop;
  if (isGliding) return;
  isPinned = isAtEnd();
  if (thread.scrollTop < NEAR && (from > 0 || known.length < total)) earlier();
  else if (thread.scrollHeight - thread.scrollTop - thread.clientHeight < NEAR && to < known.length) later();
}

async function earlier() {
  if (from === 0) {
    if (isFetching) return;
    isFetching = true;
    const answer = await get(`messages?chat=${encodeURIComponent(chat.id)}&before=${total - known.length}`);
    isFetching = false;
    const ids = new Set(known.map((message) => message.id));
    const older = (answer?.messages ?? []).filter((message) => !ids.has(message.id));
    if (!older.length) {
      total = known.length;
      return;
    }
    known = [...older, ...known];
    from += older.length;
    to += older.length;
  }
  from = Math.max(0, from - STEP);
  to = Math.min(to, from + WINDOW);
  keepPlace(render);
}

function later() {
  to = Math.min(known.length, to + STEP);
  from = Math.max(from, to - WINDOW);
  keepPlace(render);
}

/** Renders without moving what is being read. */
function keepPlace(action) {
  const top = thread.getBoundingClientRect().top;
  const anchor = [...byID("bubbles").children].find((row) => row.getBoundingClientRect().bottom > top);
  const before = anchor?.getBoundingClientRect().top;
  action();
  if (anchor?.isConnected) thread.scrollTop += anchor.getBoundingClientRect().top - before;
}

// MARK: By keyboard

/** Up and down go from message to message, Enter reacts to one. */
function onKey(event) {
  const bubbles = [...byID("bubbles").querySelectorAll(".bubble")];
  const at = bubbles.indexOf(document.activeElement);
  const step = { ArrowUp: at < 0 ? bubbles.length - 1 : at - 1, ArrowDown: at + 1 }[event.key];
  if (step !== undefined && bubbles[step]) {
    bubbles[step].focus({ preventScroll: true });
    bubbles[step].scrollIntoView({ block: "nearest" });
    event.preventDefault();
  } else if (at >= 0 && (event.key === "Enter" || event.key === " ")) {
    open(bubbles[at]);
    event.preventDefault();
  }
}

function open(bubble) {
  const id = bubble.closest(".message").dataset.id;
  const message = known.find((one) => one.id === id);
  if (message) openTapbacks(bubble, message, chat);
}
