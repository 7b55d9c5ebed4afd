// The phone's time. It may be ahead of the machine's: then a person has let time pass.

let ahead = 0;

/** Told by each state. */
export function setPhoneTime(text) {
  ahead = new Date(text).getTime() - Date.now();
}

export const phoneNow = () => new Date(Date.now() + ahead);

export const secondsSince = (text) => (phoneNow().getTime() - new Date(text).getTime()) / 1000;
