/* The JSON API: answers, or a Refusal with words for people; and the forms and buttons that post to it. */

import { announce, byId, el, fill } from "./dom.js";

const BASE = "/agents/api/";
const PATIENCE = 30000;
const CUT_OFF = "The world went away while it answered; it may be reloading. This page tries again.";

/** An answer that is none; `status` 0 where there was no server. */
class Refusal extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

/** GET; parameters that are null are left out. */
export function get(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  const query = new URLSearchParams(given).toString();
  return ask(path + (query ? `?${query}` : ""), { method: "GET" });
}

/** POST, with a body where there is something to say, and the token that Django wants to see. */
export function post(path, said = null) {
  const headers = { "X-CSRFToken": token(), ...(said && { "Content-Type": "application/json" }) };
  return ask(path, { method: "POST", headers, body: said && JSON.stringify(said) });
}

async function ask(path, options) {
  let answer;
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    answer = await fetch(BASE + path, { credentials: "same-origin", signal, ...options });
  } catch {
    throw new Refusal(0, "The server does not answer. It may be reloading; this page tries again.");
  }
  const said = await answer.json().catch(() => null);
  if (answer.ok && said !== null) return said;
  throw new Refusal(answer.status, said?.error || (answer.ok ? CUT_OFF : wordsFor(answer.status)));
}

function wordsFor(status) {
  if (status === 403) return "You may not look here (any more). Log in again as a builder.";
  if (status === 404) return "There is no such agent (any more).";
  if ([502, 503, 504].includes(status)) return "The world is not running, or is reloading. This page tries again.";
  return `The server answered ${status}. Its log (keepsake doctor) says why.`;
}

/** The cookie is renewed with each log-in, maybe in another tab; the page's own is as old as it. */
function token() {
  const cookie = document.cookie.split("; ").find((each) => each.startsWith("csrftoken="));
  return cookie?.split("=")[1] || document.querySelector("meta[name=csrf-token]")?.content || "";
}

// -- what builders change from an agent's page: a form or a button, and what came of it in words

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
export function field(label, name, { lines = 1, most = 4000 } = {}) {
  const attributes = { name, maxlength: most, required: true };
  const box = lines > 1 ? el("textarea", { ...attributes, rows: lines }) : el("input", attributes);
  return el("label", {}, el("span", {}, label), box);
}
