// What a person asks the simulator to do. A refusal is shown in its own words.
import { byID, write } from "./dom.js";

export async function post(path, body = {}) {
  try {
    const response = await fetch("/control/" + path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    problem(response.ok ? "" : answer.detail || `That did not work (${response.status}).`);
    return response.ok;
  } catch {
    problem("The simulator cannot be reached.");
    return false;
  }
}

export async function get(path) {
  try {
    const response = await fetch("/control/" + path);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

export const pressPhone = (deviceID, event, details) =>
  post(`phones/${encodeURIComponent(deviceID)}/${event}`, details);

export function problem(words) {
  const place = byID("problem");
  write(place, words);
  place.hidden = !words;
}
