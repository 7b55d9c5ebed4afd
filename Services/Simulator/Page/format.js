// Numbers, amounts and times in words.

const number = new Intl.NumberFormat("en-US");
const clock = new Intl.DateTimeFormat("en-US", { hour: "numeric", minute: "2-digit" });
const exact = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false,
});
const weekday = new Intl.DateTimeFormat("en-US", { weekday: "long" });
const day = new Intl.DateTimeFormat("en-US", { weekday: "short", month: "short", day: "numeric" });
const longDay = new Intl.DateTimeFormat("en-US", { weekday: "long", month: "long", day: "numeric" });

export const grouped = (value) => number.format(value);
export const timeOfDay = (date) => clock.format(date);
/** As a phone's status bar has it. */
export const statusTime = (date) => clock.format(date).replace(/ [AP]M$/, "");
export const exactTime = (date) => exact.format(date);
export const dayInFull = (date) => longDay.format(date);

/** What stands above a stretch of a conversation: "Today 9:41 AM". */
export function stretch(date, now) {
  const days = Math.round((startOfDay(now) - startOfDay(date)) / 86_400_000);
  const isThisWeek = days > 1 && days < 7;
  const name = ["Today", "Yesterday"][days] ?? (isThisWeek ? weekday.format(date) : day.format(date));
  return { day: name, time: timeOfDay(date) };
}

const startOfDay = (date) => new Date(date).setHours(0, 0, 0, 0);

/** Cents of a currency, or points. */
export function money(amount, unit) {
  if (unit === "points") return grouped(amount);
  try {
    return new Intl.NumberFormat("en-US", { style: "currency", currency: unit }).format(amount / 100);
  } catch {
    // A unit that is no currency's code.
    return `${(amount / 100).toFixed(2)} ${unit}`;
  }
}

export function span(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  return ago(seconds);
}

export function ago(seconds) {
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}
