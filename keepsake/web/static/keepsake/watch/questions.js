/* The panel "What do you want to know?": an agent that is chosen in one question is chosen in all. On the page of an
 * agent its questions are answered in place. */

import { get } from "./api.js";
import { fill } from "./dom.js";
import { answerWords } from "./short_answer.js";

/** The lines of an answer in place. */
const IN_PLACE = 2;

/** Answer the questions of a folded panel in place, in short, when it is first opened; `id`: the agent's number. */
export function answerInPlace(panel, id) {
  if (!panel) return;
  foldOnPhones();
  const answer = () => {
    if (!panel.open) return;
    panel.removeEventListener("toggle", answer);
    for (const place of panel.querySelectorAll(".answer")) answerOne(place, id);
  };
  panel.addEventListener("toggle", answer);
  answer();
}

async function answerOne(place, id) {
  const { of, about = "" } = place.dataset;
  try {
    const { lines } = await get(`agents/${id}/answer`, { of, about });
    fill(place, answerWords(lines, IN_PLACE));
  } catch {
    place.hidden = true; // the page of the answer says what is wrong
  }
}

/** A phone: each question is a row that opens its form, and long lists are folded. */
export const PHONE = window.matchMedia("(width < 40rem)");

/** Fold the forms of the questions on a phone, and only there: elsewhere they have no row to open them. */
function foldOnPhones() {
  const questions = [...document.querySelectorAll("details.question")];
  const fold = () => questions.forEach((each) => (each.open = !PHONE.matches));
  PHONE.addEventListener("change", fold);
  fold();
  for (const panel of document.querySelectorAll(".questions")) panel.dataset.folds = "";
}

/** Let all pickers of agents follow the one that was changed. */
export function followOneAgent() {
  foldOnPhones();
  const pickers = [...document.querySelectorAll('.questions select[name="agent"]')];
  let byKey = false; // with keys a change may be one step of several through the list
  for (const picker of pickers) {
    picker.addEventListener("pointerdown", () => (byKey = false));
    picker.addEventListener("keydown", () => (byKey = true));
    picker.addEventListener("change", () => {
      pickers.forEach((each) => (each.value = picker.value));
      if (!byKey) picker.form.querySelector('input[type="search"]')?.focus(); // what is typed next
    });
  }
}
