/* What happens, as it happens: an EventSource that comes back after a reload without a gap.
 *
 * A browser has six connections to a server, over all its tabs. So a tab that nobody looks at
 * lets go of its stream, and goes on where it was when somebody looks again.
 */

import { GROUPS } from "./event_words.js";

/** A `gap` says that events are missing, a `beat` only that the line lives. */
const KINDS = [...Object.keys(GROUPS), "guard", "gap", "beat"];
const ADDRESS = "/agents-live";
const BEFORE = 100;
const SILENCE = 45000;
const LONGEST_WAIT = 10000;
const HIDDEN = 30000;

/** One stream; `took(kind, record)` for each event, `turned(state, words)` for each change.
 *
 * States: `connecting`, `live`, `lost` (it is tried again), `refused` and `over` (it is not).
 */
export class Stream {
  #last = null;
  #wait = 1000;
  #source = null;
  #timer = null;
  #silence = null;
  #hiding = null;
  #state = "";

  constructor({ agent = null, took, turned = () => {} }) {
    this.query = { last: BEFORE, ...(agent !== null && { agent }) };
    this.took = took;
    this.turned = turned;
  }

  /** Begin, and mind whether anybody looks. */
  start() {
    document.addEventListener("visibilitychange", () => this.#seen());
    addEventListener("pagehide", () => this.#end());
    addEventListener("pageshow", (event) => event.persisted && this.#state !== "over" && this.#connect());
    // Opened behind the page that somebody looks at, it waits until it is looked at itself.
    if (!document.hidden) this.#connect();
  }

  /** The server answers again: there is nothing to wait for any more. */
  hurry() {
    if (["lost", "refused"].includes(this.#state) && this.#source === null) this.#connect();
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

  #seen() {
    clearTimeout(this.#hiding);
    if (this.#state === "over") return;
    if (document.hidden) this.#hiding = setTimeout(() => this.#end(), HIDDEN);
    else if (this.#source === null) this.#connect();
  }

  #end() {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#source?.close();
    this.#source = null;
  }

  #connect() {
    this.#end();
    if (this.#state !== "lost") this.#turn("connecting", "connecting");
    const after = this.#last === null ? {} : { after: this.#last };
    const source = (this.#source = new EventSource(`${ADDRESS}?${new URLSearchParams({ ...this.query, ...after })}`));
    source.onopen = () => this.#turn("live", "live");
    for (const kind of KINDS) source.addEventListener(kind, (event) => this.#take(event));
    this.#alive();
  }

  #take({ type, data, lastEventId }) {
    // "error" is a kind of the log, and also the name of what a browser itself says of a lost connection.
    if (data === undefined) return this.#lost();
    this.#alive();
    this.#wait = 1000;
    if (lastEventId) this.#last = lastEventId;
    if (type !== "beat") this.took(type, JSON.parse(data));
  }

  /** Given up after a while of silence: a connection may be dead without anybody saying so. */
  #alive() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#lost(), SILENCE);
  }

  #lost() {
    this.#end();
    this.#turn("lost", "no stream; looking every few seconds");
    if (document.hidden) return;
    this.#timer = setTimeout(() => this.#connect(), this.#wait * (0.8 + 0.4 * Math.random()));
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
  }

  #turn(state, words) {
    if (this.#state === state) return;
    this.#state = state;
    this.turned(state, words);
  }
}
