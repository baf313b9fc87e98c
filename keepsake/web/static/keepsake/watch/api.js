/* The client of the JSON API, which throws an ApiError with a message for people; its forms and buttons. */

import { announce, byId, el, fill, seconds } from "./dom.js";

const BASE = "/agents/api/";
const TIMEOUT = 30000;
const CUT_OFF = "The answer is incomplete; the server may be reloading. This page tries again.";

const SILENT = "The server does not answer. It may be reloading; this page tries again.";

/** What is known if no answer came in so many milliseconds. */
function tooLong(timeout) {
  return `No answer came within ${seconds(timeout / 1000)}. The machine may be busy, or the model slow.`;
}

/** An error answer; `status` is 0 if the server did not answer. */
class ApiError extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

/** Send a GET request, without the parameters that are null. */
export function get(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  const query = new URLSearchParams(given).toString();
  return ask(path + (query ? `?${query}` : ""), { method: "GET" });
}

/** Send a POST request with the CSRF token, and with `said` as the body if it is not null; `timeout` in milliseconds. */
export function post(path, said = null, timeout = TIMEOUT) {
  const headers = { "X-CSRFToken": token(), ...(said && { "Content-Type": "application/json" }) };
  return ask(path, { method: "POST", headers, body: said && JSON.stringify(said) }, timeout);
}

async function ask(path, options, timeout = TIMEOUT) {
  let answer;
  try {
    const signal = AbortSignal.timeout(timeout);
    answer = await fetch(BASE + path, { credentials: "same-origin", signal, ...options });
  } catch ({ name }) {
    throw new ApiError(0, name === "TimeoutError" ? tooLong(timeout) : SILENT);
  }
  const said = await answer.json().catch(() => null);
  if (answer.ok && said !== null) return said;
  throw new ApiError(answer.status, said?.error || (answer.ok ? CUT_OFF : wordsFor(answer.status)));
}

function wordsFor(status) {
  if (status === 403) return "You have no access (any more). Log in again as a builder.";
  if (status === 404) return "There is no such agent (any more).";
  if ([502, 503, 504].includes(status))
    return "The world is not running, or is reloading. This page tries again.";
  return `The server answered ${status}. Its log (keepsake doctor) says why.`;
}

/** The CSRF token: the cookie's, because a log-in in another tab renews it; else the page's own. */
function token() {
  const cookie = document.cookie.split("; ").find((each) => each.startsWith("csrftoken="));
  return cookie?.split("=")[1] || document.querySelector("meta[name=csrf-token]")?.content || "";
}

// -- the builders' forms and buttons on an agent's page, and their outcomes in words

const LEAVES = 15000;
let leaving = null;
let allowed = false;

/** Show the forms and buttons of this module if the account may act, else hide them. */
export function mayAct(may) {
  if (may === allowed) return;
  allowed = may;
  for (const each of document.querySelectorAll("[data-acts]")) each.hidden = !may;
}

/** Show an outcome above the sections, for a while. */
export function say(words, good) {
  const line = byId("outcome");
  line.className = good ? "outcome" : "outcome problem";
  line.hidden = false;
  fill(line, words);
  announce(words);
  clearTimeout(leaving);
  leaving = setTimeout(() => (line.hidden = true), LEAVES);
}

/** Run an action; returns whether it was done. `said` is the request body, or null; `timeout` in milliseconds. */
export async function act(id, what, said = null, timeout = TIMEOUT) {
  try {
    const { done, said: words } = await post(`agents/${id}/${what}`, said, timeout);
    say(words, done);
    return done;
  } catch (problem) {
    say(problem.message, false);
    return false;
  }
}

/** A button that asks for confirmation before it runs `work()`; `then()` runs if it was done. */
export function actButton(words, sure, work, then) {
  const button = el(
    "button",
    {
      type: "button",
      "data-acts": true,
      hidden: !allowed,
      on: {
        click: async () => {
          if (!confirm(sure)) return;
          button.disabled = true;
          if (await work()) await then();
          button.disabled = false;
        },
      },
    },
    words,
  );
  return button;
}

/** Hide an element that only builders may use, until it is known that the account may act. */
export function builders(node) {
  node.dataset.acts = "";
  node.hidden = !allowed;
  return node;
}

/** A folded form. `fields()` makes its fields when it is first opened, at once or later. `work(values)` returns whether
 * it was done; if so, the form is reset and `then()` runs. */
export function actForm(label, fields, work, then) {
  let begun = false;
  const details = el(
    "details",
    {
      "data-acts": true,
      hidden: !allowed,
      on: {
        toggle: async () => {
          if (!details.open || begun) return;
          begun = true;
          try {
            details.append(form(label, await fields(), work, then));
          } catch (problem) {
            begun = false; // the next time it is opened, it is tried again
            say(problem.message, false);
          }
        },
      },
    },
    el("summary", {}, label),
  );
  return details;
}

function form(label, fields, work, then) {
  const send = el("button", {}, label);
  const made = el(
    "form",
    {
      class: "act-form",
      on: {
        submit: async (event) => {
          event.preventDefault();
          send.disabled = true;
          if (await work(Object.fromEntries(new FormData(made)))) {
            made.reset();
            await then();
          }
          send.disabled = false;
        },
      },
    },
    fields,
    send,
  );
  return made;
}

/** A labelled field of one line or several. */
export function field(label, name, { lines = 1, most = 4000, value = "", needed = true } = {}) {
  const attributes = { name, maxlength: most, required: needed };
  const box =
    lines > 1
      ? el("textarea", { ...attributes, rows: lines }, value)
      : el("input", { ...attributes, value });
  return el("label", {}, el("span", {}, label), box);
}
