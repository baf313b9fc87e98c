/* Who told whom: a short line for each telling by which somebody came to know a fact, faces before words. */

import { byId, count, el, fill, sameDay, tick } from "./dom.js";
import { face } from "./faces.js";
import { page, seconds } from "./fact_state.js";
import { Way } from "./kinds.js";
import { privacyMark, WHISPERED } from "./privacy.js";
import { inWords } from "./sentences.js";

/** The most lines, and the most faces of one. */
const MOST = 10;
const FACES = 8;

/** Draw who told whom until a time; `now`: whether that is the present, with who perhaps knows it. */
export function drawSources(until, now) {
  const { sources } = page.fact.who;
  const all = sources.filter(({ time, counted }) => seconds(time) <= until && (now || counted));
  drawNews(until);
  const drawn = JSON.stringify(all);
  const list = byId("sources");
  if (list.dataset.drawn === drawn) return;
  list.dataset.drawn = drawn;
  const hours = all.length > 0 && all.every(({ time }) => sameDay(time, all[0].time));
  const lines = all.map((each) => line(each, hours));
  fill(
    list,
    lines.slice(0, MOST),
    lines.length > MOST
      ? el(
          "li",
          {},
          el(
            "details",
            {},
            el("summary", {}, `${count(lines.length - MOST)} more`),
            el("ol", { class: "sources" }, lines.slice(MOST)),
          ),
        )
      : null,
  );
}

function line({ source, source_id: teller, to, way, time, private: hidden, doubtful }, hours) {
  const who = [
    to.slice(0, FACES).map((each) => face(each)),
    to.length > FACES ? el("span", { class: "dim" }, ` +${count(to.length - FACES)}`) : null,
  ];
  return el(
    "li",
    { class: hidden ? "whispered" : doubtful ? "doubtful" : "" },
    doubtful ? el("span", { class: "dim" }, "perhaps ") : null,
    source ? [face({ name: source, id: teller }), el("span", { class: "to" }, "→")] : null,
    who,
    el("span", { class: "dim" }, ` ${how(way, hidden)}, ${tick(time, !hours)}`),
  );
}

/** How those of a line came to know it: in private, aloud, by overhearing. */
function how(way, hidden) {
  if (way === Way.SAID) return "said it, from whom is not known";
  if (way === Way.SAW) return "saw it";
  if (hidden || way === Way.WHISPERED) return hidden || WHISPERED;
  return way === Way.OVERHEARD ? "overheard" : "aloud";
}

/** Draw what was said of it later until a time, in a line each: told again, or only near to it. */
function drawNews(until) {
  const news = page.fact.who.news.filter(({ time }) => seconds(time) <= until);
  byId("later").hidden = !news.length;
  fill(byId("news"), news.map(newsLine));
}

function newsLine({ id, n, time, speaker, to, text, private: hidden, told }) {
  const whom = to.length ? ` to ${inWords(to)}` : "";
  return el(
    "li",
    { class: hidden ? "whispered" : "" },
    el("span", { class: "dim" }, `${tick(time, false)} `),
    el("b", {}, el("bdi", {}, `${speaker}${whom}`)),
    hidden ? [" ", privacyMark(hidden)] : null,
    told ? null : el("span", { class: "dim" }, " perhaps"),
    ": ",
    el("a", { href: `/agents/fact?agent=${id}&n=${n}`, dir: "auto", title: text }, text),
  );
}
