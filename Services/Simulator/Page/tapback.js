// Reactions to a message, as one gives them in Messages.
import { TAPBACKS, tapbackMark } from "./bubble.js";
import { post } from "./commands.js";
import { openMenu } from "./menu.js";

export function openTapbacks(bubble, message, chat) {
  openMenu(bubble, "React to this message", "tapbacks", TAPBACKS.map((tapback) => {
    const isOn = message.reactions.includes(tapback.name);
    return {
      element: tapbackMark(tapback), label: tapback.words, isOn,
      action: () => post("texts", {
        from: chat.handles[0], chat: chat.id, reaction: tapback.name, messageID: message.id, removed: isOn,
      }),
    };
  }));
}
