// What a screen reader is told: new messages, and what the Island shows now.
import { byID, make } from "./dom.js";
import { islandWords } from "./island.js";

const MOST = 20;
let told = null;

export function announceMessages(messages) {
  const place = byID("heard-messages");
  for (const message of messages) {
    place.append(make("p", { text: `${message.direction === "inbound" ? "You" : "Answer"}: ${message.words}` }));
  }
  while (place.childElementCount > MOST) place.firstChild.remove();
}

export function announceIsland(phone) {
  const words = islandWords(phone?.island ?? null);
  if (told === words) return;
  // What is there when the page opens is no news.
  if (told !== null) byID("heard-island").textContent = words;
  told = words;
}
