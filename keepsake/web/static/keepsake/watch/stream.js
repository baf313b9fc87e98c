/* What happens, as it happens: an EventSource that comes back after a reload without a gap.
 *
 * A browser has six connections to a server, over all its tabs. So a tab that nobody looks at
 * lets go of its stream, and goes on where it was when somebody looks again.
 */

import { SAYS } from "./event_words.js";

/** A `gap` says that events are missing, a `beat` only that the line lives. */
const KINDS = [...Object.keys(SAYS), "gap", "beat"];
const BEFORE = 100;
const SILENCE = 45000;
const AGAIN = 2000;

/** One stream; `took(kind, record)` for each event, `turned(state, words)` for each change.
 *
 * States: `connecting`, `live`, `lost` (it is tried again), `refused` and `over` (it is not).
 */
export class Stream {
  #last = null;
  #source = null;
  #timer = null;
  #state = "";

  constructor({ agent = null, took, turned }) {
    Object.assign(this, { query: { last: BEFORE, ...(agent !== null && { agent }) }, took, turned });
  }

  /** Begin, and mind whether anybody looks. */
  start() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#end() : this.#connect()));
    addEventListener("pagehide", () => this.#end());
    if (!document.hidden) this.#connect();
  }

  /** The server answers again: there is nothing to wait for any more. */
  hurry() {
    if (this.#source === null && this.#state !== "over") this.#connect();
  }

  /** The API says that this account may not look any more: neither may it listen. */
  refuse() {
    this.#end();
    this.#turn("refused", "You may not look here any more. Log in again.");
  }

  /** There is nothing to listen to any more; `words` say why. */
  stop(words) {
    this.#end();
    this.#turn("over", words);
  }

  #end() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #connect() {
    this.#end();
    if (this.#state === "over") return;
    if (this.#state !== "lost") this.#turn("connecting", "connecting");
    const after = this.#last === null ? {} : { after: this.#last };
    this.#source = new EventSource(`/agents-live?${new URLSearchParams({ ...this.query, ...after })}`);
    this.#source.onopen = () => this.#turn("live", "live");
    for (const kind of KINDS) this.#source.addEventListener(kind, (event) => this.#take(event));
    this.#alive();
  }

  #take({ type, data, lastEventId }) {
    // "error" is a kind of the log, and also the name of what a browser itself says of a lost connection.
    if (data === undefined) return this.#lost();
    this.#alive();
    if (lastEventId) this.#last = lastEventId;
    if (type !== "beat") this.took(type, JSON.parse(data));
  }

  /** Given up after a while of silence: a connection may be dead without anybody saying so. */
  #alive() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(), SILENCE);
  }

  #lost() {
    this.#end();
    this.#turn("lost", "no stream; looking every few seconds");
    if (!document.hidden) this.#timer = setTimeout(() => this.#connect(), AGAIN * (0.8 + 0.4 * Math.random()));
  }

  #turn(state, words) {
    if (this.#state === state) return;
    this.#state = state;
    this.turned(state, words);
  }
}
