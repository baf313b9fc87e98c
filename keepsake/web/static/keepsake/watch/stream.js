/* New events: the page asks for them each second while it is visible. */

import { get } from "./api.js";

const EVERY = 1000;
const AGAIN = 2000;

/** Calls `onEvent(kind, record)` for each new event, and `onState(state, words)` for each change of state.
 *
 * The kind `gap` means that events are missing. States: `connecting`, `live`, `lost` (it tries
 * again), `refused` and `over` (it has stopped).
 */
export class Stream {
  #last = null;
  #asking = false;
  #timer = null;
  #state = "";

  constructor({ agent = null, onEvent, onState }) {
    Object.assign(this, { agent, onEvent, onState });
  }

  /** Start, and pause while the page is hidden. */
  start() {
    this.#turn("connecting", "connecting");
    document.addEventListener("visibilitychange", () => this.#ask());
    this.#ask();
  }

  /** The server answers again: ask at once. */
  hurry() {
    if (this.#state !== "live") this.#ask();
  }

  /** Stop, because the account has lost its access. */
  refuse() {
    this.#turn("refused", "You no longer have access. Log in again.");
  }

  /** Stop for good; `words` say why. */
  stop(words) {
    this.#turn("over", words);
  }

  async #ask() {
    clearTimeout(this.#timer);
    if (this.#asking || document.hidden || this.#state === "over") return;
    this.#asking = true;
    const asked = get("events", { agent: this.agent, after: this.#last });
    const found = await asked.catch((problem) => this.#failed(problem));
    this.#asking = false;
    if (this.#state !== "refused") this.#timer = setTimeout(() => this.#ask(), found ? EVERY : AGAIN);
    if (found && this.#state !== "over") this.#take(found);
  }

  #failed({ status }) {
    if (status === 403) this.refuse();
    else this.#turn("lost", "no connection; trying every few seconds");
  }

  #take({ last, gap, events }) {
    this.#turn("live", "live");
    this.#last = last;
    if (gap) this.onEvent("gap", {});
    for (const record of events) this.onEvent(record.kind, record);
  }

  #turn(state, words) {
    if (this.#state === state || this.#state === "over") return;
    this.#state = state;
    this.onState(state, words);
  }
}
