/* What builders change from an agent's page: a form or a button, and what came of it in words. */

import { post } from "./api.js";
import { announce, byId, el, fill } from "./dom.js";

const LEAVES = 15000;
let leaving = null;
let allowed = false;

/** Who looks may act, or may not: what this module made is shown, or not. */
export function mayAct(may) {
  if (may === allowed) return;
  allowed = may;
  for (const each of document.querySelectorAll("[data-acts]")) each.hidden = !may;
}

/** Say what came of it, for a while, above the sections. */
export function say(words, good) {
  const line = byId("outcome");
  line.className = good ? "outcome" : "outcome problem";
  line.hidden = false;
  fill(line, words);
  announce(words);
  clearTimeout(leaving);
  leaving = setTimeout(() => (line.hidden = true), LEAVES);
}

/** Have it done; gives whether it was. `said` is the body, or null. */
export async function act(id, what, said = null) {
  try {
    const { done, said: words } = await post(`agents/${id}/${what}`, said);
    say(words, done);
    return done;
  } catch (problem) {
    say(problem.message, false);
    return false;
  }
}

/** A button that asks before it does something; `then()` when it was done. */
export function actButton(words, sure, work, then) {
  const button = el("button", { type: "button", "data-acts": true, hidden: !allowed, on: { click: async () => {
    if (!confirm(sure)) return;
    button.disabled = true;
    if (await work()) await then();
    button.disabled = false;
  } } }, words);
  return button;
}

/** A folded form; `fields()` makes what is in it when it is opened, `work(values)` gives whether it
 * was done, then it is emptied and `then()`. */
export function actForm(label, fields, work, then) {
  const details = el("details", { "data-acts": true, hidden: !allowed, on: { toggle: () => {
    if (details.open && !details.querySelector("form")) details.append(form(label, fields(), work, then));
  } } }, el("summary", {}, label));
  return details;
}

function form(label, fields, work, then) {
  const send = el("button", {}, label);
  const made = el("form", { class: "act-form", on: { submit: async (event) => {
    event.preventDefault();
    send.disabled = true;
    if (await work(Object.fromEntries(new FormData(made)))) {
      made.reset();
      await then();
    }
    send.disabled = false;
  } } }, fields, send);
  return made;
}

/** A labelled field, one line or several. */
export function field(label, name, { lines = 1, value = "", most = 4000 } = {}) {
  const attributes = { name, maxlength: most, required: true };
  const box = lines > 1 ? el("textarea", { ...attributes, rows: lines }, value) : el("input", { ...attributes, value });
  return el("label", {}, el("span", {}, label), box);
}
