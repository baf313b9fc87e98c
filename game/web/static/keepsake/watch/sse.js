/* Server-sent events over fetch: unlike EventSource it tells why there is no stream. */

const MOST = 1 << 20;

/** Takes pieces of text as they come; gives the events that are complete by then. */
export class Parser {
  #rest = "";

  feed(piece) {
    this.#rest += piece.replaceAll("\r\n", "\n");
    const blocks = this.#rest.split("\n\n");
    this.#rest = blocks.pop();
    if (this.#rest.length > MOST) throw new Error("an event without an end");
    return blocks.map(event);
  }
}

/** One block of lines. Without data (a heartbeat) it may still tell how far the stream has come. */
function event(block) {
  const made = { id: null, event: "message", data: null };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") made.data = made.data === null ? value : `${made.data}\n${value}`;
    else if (name === "id" || name === "event") made[name] = value;
  }
  return made;
}
