// What the simulator told last, and who wants to know. The page has no other truth.

const listeners = new Set();
let latest = null;

export function onState(listener) {
  listeners.add(listener);
  if (latest) listener(latest);
}

export function publish(state) {
  latest = state;
  for (const listener of listeners) listener(state);
}

export const current = () => latest;

/** The phone that is looked at: the chosen one, or the first. */
export function phoneOf(state, deviceID) {
  const phones = state.person.phones;
  return phones.find((phone) => phone.deviceID === deviceID) ?? phones[0] ?? null;
}
