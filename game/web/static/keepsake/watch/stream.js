/* What happens, as it happens: opens the stream, and comes back after a reload without a gap.
 *
 * A browser has six connections to a server, over all its tabs. So a tab that nobody looks at
 * lets go of its stream, and goes on where it was when somebody looks again.
 */

import { Parser } from "./sse.js";

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
  #open = null;
  #timer = null;
  #hiding = null;
  #state = "";
  #words = "";

  constructor({ agent = null, took, turned = () => {} }) {
    this.address = `${ADDRESS}?last=${BEFORE}` + (agent === null ? "" : `&agent=${agent}`);
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
    if (["lost", "refused"].includes(this.#state) && this.#open === null) this.#connect();
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
    else if (this.#open === null) this.#connect();
  }

  #end() {
    clearTimeout(this.#timer);
    this.#open?.abort();
    this.#open = null;
  }

  async #connect() {
    this.#end();
    const open = (this.#open = new AbortController());
    if (this.#state !== "lost") this.#turn("connecting", "connecting");
    let words = "";
    try {
      words = await this.#read(open);
    } catch {
      // Whatever broke the connection: it is tried again below, and said so.
    }
    if (this.#open === open) this.#lost(words);
  }

  /** Reads to the end; gives the server's own words where it did not want to begin. */

  async #read(open) {
    const headers = { Accept: "text/event-stream" };
    if (this.#last !== null) headers["Last-Event-ID"] = this.#last;
    const guard = alarm(() => open.abort());
    try {
      const answer = await fetch(this.address, {
        headers, signal: open.signal, credentials: "same-origin", cache: "no-store",
      });
      if (answer.status === 403 && this.#open === open) this.refuse();
      if (!answer.ok) return (await answer.json().catch(() => null))?.error ?? "";
      this.#turn("live", "live");
      await this.#follow(answer.body.getReader(), guard);
      return "";
    } finally {
      guard.off();
    }
  }

  async #follow(reader, guard) {
    const parser = new Parser();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      guard.again();
      this.#wait = 1000;
      for (const each of parser.feed(decoder.decode(value, { stream: true }))) this.#take(each);
    }
  }

  #take({ id, event, data }) {
    if (id) this.#last = id;
    if (data === null) return;
    let record;
    try {
      record = JSON.parse(data);
    } catch {
      return; // cut off by a proxy; the next one is whole again
    }
    this.took(event, record);
  }

  #lost(words) {
    this.#open = null;
    this.#turn("lost", ["no stream; looking every few seconds", words].filter(Boolean).join(". "));
    if (document.hidden) return;
    this.#timer = setTimeout(() => this.#connect(), this.#wait * (0.8 + 0.4 * Math.random()));
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
  }

  #turn(state, words) {
    if (this.#state === state && this.#words === words) return;
    this.#state = state;
    this.#words = words;
    this.turned(state, words);
  }
}

/** Rings after a while of silence: a connection may be dead without anybody saying so. */
function alarm(ring) {
  let timer = setTimeout(ring, SILENCE);
  return {
    again() {
      clearTimeout(timer);
      timer = setTimeout(ring, SILENCE);
    },
    off: () => clearTimeout(timer),
  };
}
