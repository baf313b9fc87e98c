/* The JSON API: answers, or a Refusal with words for people. */

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
