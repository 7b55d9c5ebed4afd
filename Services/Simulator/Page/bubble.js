// One message of the thread.
import { make, write } from "./dom.js";
import { icon } from "./icons.js";

export const TAPBACKS = [
  { name: "love", words: "Love", icon: "heart" },
  { name: "like", words: "Like", icon: "thumbUp" },
  { name: "dislike", words: "Dislike", icon: "thumbDown" },
  { name: "laugh", words: "Laugh", text: "HA" },
  { name: "emphasize", words: "Emphasize", text: "!!" },
  { name: "question", words: "Question", text: "?" },
];

export const tapbackMark = (tapback) =>
  tapback.icon ? icon(tapback.icon) : make("span", { class: "mark", text: tapback.text, "aria-hidden": "true" });

/** A row: what stands above the message, its bubble with pictures and words, and what became of it. */
export function makeBubble(message) {
  // Pictures stand above the words, as Messages has it.
  const content = message.parts.flatMap(contentOf).sort((a, b) => isWords(a) - isWords(b));
  const marks = make("span", { class: "marks" });
  const role = { tabindex: "-1", role: "group", "aria-roledescription": "message" };
  return make(
    "li",
    { class: `message ${message.direction}`, "data-id": message.id },
    make("p", { class: "stretch", hidden: true }, make("b"), make("span")),
    make("div", { class: "bubble", ...role }, ...content, marks),
    make("p", { class: "fate", hidden: true }),
  );
}

/** What may change later: reactions, its place among the others, whether it was read. */
export function updateBubble(row, message, { above, isLast, fate, isGreen }) {
  const [stretch, bubble, status] = row.children;
  stretch.hidden = !above;
  if (above) {
    write(stretch.firstChild, above.day);
    write(stretch.lastChild, " " + above.time);
  }
  row.classList.toggle("is-last", isLast);
  row.classList.toggle("is-green", isGreen);
  status.hidden = !fate;
  write(status, fate ?? "");
  const marks = bubble.lastChild;
  if (marks.dataset.names !== message.reactions.join()) {
    marks.dataset.names = message.reactions.join();
    marks.replaceChildren(...TAPBACKS.filter((one) => message.reactions.includes(one.name)).map(tapbackMark));
  }
  const who = message.direction === "inbound" ? "You" : "Answer";
  const marked = message.reactions.length ? `, reactions: ${message.reactions.join(", ")}` : "";
  bubble.setAttribute("aria-label", `${who}: ${wordsOf(message)}${marked}`);
}

/** What a message says, for those who do not see it. */
export function wordsOf(message) {
  return message.parts.map((part) => (part.type === "media" ? "a photo" : part.value ?? "")).join(", ");
}

const isWords = (element) => element.classList.contains("words");

function contentOf(part) {
  if (part.type === "media") return [picture(part.url)];
  if (part.type === "link") return [make("span", { class: "words link", text: part.value })];
  return part.value ? [make("span", { class: "words", text: part.value })] : [];
}

/** A picture of the simulator's own; any other one would be a request to somebody else. */
function picture(url) {
  let address = null;
  try {
    address = new URL(url);
  } catch {
    // No address at all: shown as one that cannot be fetched.
  }
  if (address?.origin !== location.origin) {
    return make("span", { class: "words no-picture", text: "Photo (kept elsewhere)" });
  }
  const size = { width: 210, height: 158 };
  return make("img", { class: "picture", src: address.pathname, alt: "Photo", ...size, draggable: "false" });
}
