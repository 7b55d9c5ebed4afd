// Where one writes. What is half written survives a reload.
import { post } from "./commands.js";
import { byID, enable, make } from "./dom.js";
import { icon } from "./icons.js";
import { openMenu } from "./menu.js";
import { session } from "./session.js";
import { lookAtEnd } from "./thread.js";

const PHOTOS = [
  { file: "/photo-bowl.svg", words: "Chicken bowl" },
  { file: "/photo-toast.svg", words: "Eggs on toast" },
  { file: "/photo-salad.svg", words: "Salad" },
];

const field = byID("text");
let photo = null;

export function setUpComposer() {
  byID("send").append(icon("up"));
  byID("add-photo").append(icon("plus"));
  field.value = session.get("draft", "");
  attach(session.get("photo"));
  field.addEventListener("input", () => {
    session.set("draft", field.value);
    showReady();
  });
  byID("compose").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  byID("add-photo").addEventListener("click", choosePhoto);
  showReady();
  enable(byID("compose"));
}

async function send() {
  const text = field.value.trim();
  if (!text && !photo) return;
  const message = { from: session.handle };
  if (text) message.text = text;
  if (photo) message.media = location.origin + photo;
  field.value = "";
  lookAtEnd();
  const wasPhoto = photo;
  attach(null);
  if (await post("texts", message)) {
    session.set("draft", "");
  } else {
    field.value = text;
    attach(wasPhoto);
  }
  showReady();
}

function showReady() {
  byID("compose").classList.toggle("is-ready", field.value.trim() !== "" || photo !== null);
}

function choosePhoto() {
  const button = byID("add-photo");
  button.setAttribute("aria-expanded", "true");
  openMenu(button, "Photos", "photos", PHOTOS.map((one) => ({
    element: make("img", { src: one.file, alt: "", width: 76, height: 57 }),
    label: one.words,
    action: () => {
      attach(one.file);
      field.focus();
    },
  })), () => button.setAttribute("aria-expanded", "false"));
}

function attach(file) {
  photo = PHOTOS.some((one) => one.file === file) ? file : null;
  session.set("photo", photo);
  const place = byID("attached");
  place.hidden = !photo;
  place.replaceChildren();
  if (photo) {
    const away = { type: "button", class: "card-close", "aria-label": "Take the photo away" };
    place.append(
      make("img", { src: photo, alt: "Attached photo", width: 92, height: 69 }),
      make("button", { ...away, onclick: () => attach(null) }, icon("cross")),
    );
  }
  showReady();
}
