// What survives a reload in this tab: who one is, what the phone shows, what is half written. All else is the
// simulator's.

const FIRST_HANDLE = "+12025559876";
const KEY = "isthmus";

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

const kept = load();
const listeners = new Set();

export const session = {
  get handle() {
    return new URLSearchParams(location.search).get("user") || kept.handle || lastHandle() || FIRST_HANDLE;
  },
  get: (name, usual = null) => kept[name] ?? usual,
  set(name, value) {
    if (kept[name] === value) return;
    kept[name] = value;
    sessionStorage.setItem(KEY, JSON.stringify(kept));
    for (const listener of listeners) listener(name, value);
  },
  onChange: (listener) => listeners.add(listener),
  /** Loads the page of somebody else. */
  become(handle) {
    localStorage.setItem(KEY, handle);
    this.set("handle", handle);
    const address = new URL(location.href);
    address.searchParams.set("user", handle);
    location.replace(address);
  },
};

function lastHandle() {
  return localStorage.getItem(KEY);
}
