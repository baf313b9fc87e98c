/* What happens, as it happens: the page asks each second what is new, while somebody looks at it. */

import { get } from "./api.js";

const EVERY = 1000;
const AGAIN = 2000;

/** What is new; `took(kind, record)` for each event, `turned(state, words)` for each change.
 *
 * The kind `gap` says that events are missing. States: `connecting`, `live`, `lost` (it is tried
 * again), `refused` and `over` (it is not).
 */
export class Stream {
  #last = null;
  #asking = false;
  #timer = null;
  #state = "";

  constructor({ agent = null, took, turned }) {
    Object.assign(this, { agent, took, turned });
  }

  /** Begin, and mind whether anybody looks. */
  start() {
    this.#turn("connecting", "connecting");
    document.addEventListener("visibilitychange", () => this.#ask());
    this.#ask();
  }

  /** The server answers again: there is nothing to wait for any more. */
  hurry() {
    if (this.#state !== "live") this.#ask();
  }

  /** The API says that this account may not look any more. */
  refuse() {
    this.#turn("refused", "You may not look here any more. Log in again.");
  }

  /** There is nothing to look at any more; `words` say why. */
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
    else this.#turn("lost", "nothing comes; looking every few seconds");
  }

  #take({ last, gap, events }) {
    this.#turn("live", "live");
    this.#last = last;
    if (gap) this.took("gap", {});
    for (const record of events) this.took(record.kind, record);
  }

  #turn(state, words) {
    if (this.#state === state || this.#state === "over") return;
    this.#state = state;
    this.turned(state, words);
  }
}
