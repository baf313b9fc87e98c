/* What is near several typed words in meaning, and was said in other words: below who knows them by the words. */

import { get } from "./api.js";
import { byId, count, el, fill, personLink, time } from "./dom.js";
import { nameOf, page, typed } from "./fact_state.js";
import { By, MemoryKind } from "./kinds.js";
import { inWords } from "./sentences.js";

/** The most memories that are asked for, and the most things said that are shown. */
const MOST_MEMORIES = 60;
const MOST = 5;
/** With more tellings by the words themselves, what is only near them is folded. */
const FEW = 3;

/** Show who heard what is near the words, the best first; nothing for a single word, which finds itself. */
export async function drawNear() {
  const box = byId("near");
  box.hidden = true;
  const { words } = page.fact;
  if (!typed() || words.trim().split(/\s+/).length < 2) return;
  const query = { q: words, by: By.MEANING, limit: MOST_MEMORIES };
  const found = await get("search", query).catch(() => null);
  // Without an index exact words are searched, which were followed already.
  if (found?.by !== By.MEANING || words !== page.fact.words) return;
  const said = happenings(found.hits).slice(0, MOST);
  if (!said.length) return;
  fill(
    box,
    el(
      "details",
      { open: page.fact.tellings.length <= FEW },
      el("summary", {}, `Near in meaning, in other words: ${count(said.length)}`),
      el("ol", { class: "heard-lines" }, said.map(line)),
    ),
  );
  box.hidden = false;
}

/** What was said besides the tellings, each with all who remember it. */
function happenings(hits) {
  const told = new Set(page.fact.tellings.map(({ happening }) => happening));
  const rows = new Map();
  for (const hit of hits) {
    const { happening, what } = hit.memory;
    if (happening && what.words && !told.has(happening))
      rows.set(happening, [...(rows.get(happening) ?? []), hit]);
  }
  return [...rows.values()];
}

function line(hits) {
  const own = hits.find(({ memory }) => memory.kind === MemoryKind.ACT);
  const { id, memory } = own ?? hits[0];
  const heard = hits.filter((each) => each !== own).map((each) => nameOf(each.id));
  return el(
    "li",
    {},
    own ? el("b", {}, nameOf(own.id)) : personLink(memory.source, { key: memory.source_id }),
    ", ",
    el("a", { href: `/agents/${id}/#memory/${memory.number}` }, time(memory.time)),
    memory.confidants ? ", in private: " : ": ",
    el("q", { dir: "auto", class: memory.confidants ? "whispered" : null }, memory.what.words),
    heard.length ? el("small", {}, ` remembered by ${inWords(heard)}`) : null,
  );
}
