/* New events: the page asks for them each second while it is visible. */

import { get } from "./api.js";

const EVERY = 1000;
const AGAIN = 2000;

/** The states of a stream, and the names of their styles. `LOST` tries again; `REFUSED` and `OVER` do not. */
export const StreamState = Object.freeze({
  CONNECTING: "connecting",
  LIVE: "live",
  LOST: "lost",
  REFUSED: "refused",
  OVER: "over",
});

/** The kind that a stream reports when events are missing. */
export const GAP = "gap";

/** Calls `onEvent(kind, record)` for each new event, and `onState(state, words)` for each change of state. */
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
    this.#turn(StreamState.CONNECTING, "connecting");
    document.addEventListener("visibilitychange", () => this.#ask());
    this.#ask();
  }

  /** The server answers again: ask at once. */
  hurry() {
    if (this.#state !== StreamState.LIVE) this.#ask();
  }

  /** Stop, because the account has lost its access. */
  refuse() {
    this.#turn(StreamState.REFUSED, "You no longer have access. Log in again.");
  }

  /** Stop for good; `words` say why. */
  stop(words) {
    this.#turn(StreamState.OVER, words);
  }

  async #ask() {
    clearTimeout(this.#timer);
    if (this.#asking || document.hidden || this.#state === StreamState.OVER) return;
    this.#asking = true;
    const asked = get("events", { agent: this.agent, after: this.#last });
    const found = await asked.catch((problem) => this.#failed(problem));
    this.#asking = false;
    if (this.#state !== StreamState.REFUSED)
      this.#timer = setTimeout(() => this.#ask(), found ? EVERY : AGAIN);
    if (found && this.#state !== StreamState.OVER) this.#take(found);
  }

  #failed({ status }) {
    if (status === 403) this.refuse();
    else this.#turn(StreamState.LOST, "no connection; trying every few seconds");
  }

  #take({ last, gap, events }) {
    this.#turn(StreamState.LIVE, "live");
    this.#last = last;
    if (gap) this.onEvent(GAP, {});
    for (const record of events) this.onEvent(record.kind, record);
  }

  #turn(state, words) {
    if (this.#state === state || this.#state === StreamState.OVER) return;
    this.#state = state;
    this.onState(state, words);
  }
}
