/* Who told whom, in steps of time: faces, how, and the line itself. Below it, what else was said of it. */

import { byId, count, el, fill, sameDay, tick } from "./dom.js";
import { face } from "./faces.js";
import { grouped, page, seconds, tellingOf } from "./fact_state.js";
import { NewsKind, Way } from "./kinds.js";
import { privacyMark, WHISPERED } from "./privacy.js";
import { inWords } from "./sentences.js";

/** The most steps, the most faces of those who heard one, and the most lines below them: others are folded. */
const MOST = 8;
const FACES = 8;
const NEWS = 3;
/** How somebody took part in a step who was not the one to whom it was told. */
const STOOD_BY = { [Way.OVERHEARD]: "overheard by", [Way.SAW]: "seen by" };
/** How other lines bear on it. */
const BEARS = { [NewsKind.ASKED]: " asked" };

/** Draw who told whom until a time. `show(number)`: shows a telling on the map. */
export function drawSources(until, show) {
  const { sources } = page.fact.who;
  const all = sources.filter(({ time }) => seconds(time) <= until);
  drawNews(until, show);
  const drawn = JSON.stringify(all);
  const list = byId("sources");
  if (list.dataset.drawn === drawn) return;
  list.dataset.drawn = drawn;
  const hours = all.length > 0 && all.every(({ time }) => sameDay(time, all[0].time));
  const lines = all.map((each) => step(each, hours, show));
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

function step(each, hours, show) {
  const {
    source,
    source_id: teller,
    to,
    time,
    private: hidden,
    doubtful,
    happening,
    text,
    id,
    n,
  } = each;
  const number = page.fact.tellings.find((one) => one.happening === happening)?.number;
  return el(
    "li",
    { class: hidden ? "whispered" : doubtful ? "doubtful" : "" },
    el(
      "p",
      {},
      onMap(number, show),
      el("span", { class: "dim" }, `${tick(time, !hours)} `),
      doubtful ? el("span", { class: "dim" }, "perhaps ") : null,
      source ? face({ name: source, id: teller }) : null,
      people(source, to, how(each)),
    ),
    el("a", { class: "line", href: `/agents/fact?agent=${id}&n=${n}`, dir: "auto" }, text),
  );
}

/** The number of a telling, which shows it on the map; null for none. */
function onMap(number, show) {
  return number
    ? el(
        "button",
        {
          type: "button",
          class: "number plain",
          title: "On the map",
          on: { click: () => show(number) },
        },
        String(number),
      )
    : null;
}

/** Those of a step: to whom it was told, and how; then who stood by. */
function people(source, to, said) {
  const ways = grouped(to, ({ way }) => (source ? STOOD_BY[way] : null) ?? "");
  const direct = ways.get("") ?? [];
  ways.delete("");
  return [
    source && direct.length ? el("span", { class: "to" }, "→") : null,
    faces(direct),
    el("span", { class: "dim" }, said),
    [...ways].map(([by, some]) => [
      el("span", { class: "dim" }, direct.length || said ? `· ${by}` : by),
      faces(some),
    ]),
  ];
}

function faces(some) {
  const rest = some.length - FACES;
  return [
    some.slice(0, FACES).map((each) => {
      const shown = face(each);
      if (each.knew) {
        shown.classList.add("knew");
        shown.title = "knew of it before";
      }
      return shown;
    }),
    rest > 0 ? el("span", { class: "dim" }, ` +${count(rest)}`) : null,
  ];
}

/** How a step went: whispered, aloud; what somebody said or did by themselves. */
function how({ source, to, way, private: hidden, asks }) {
  if (asks) return `asked${hidden ? `, ${hidden}` : ""}`;
  if (to.some((each) => each.way === Way.GOT)) return "got it";
  if (way === Way.SAW) return source ? "" : "saw it";
  if (way === Way.DID) return "did it";
  if (!to.some(({ knew }) => !knew)) return `${hidden ? `${hidden}, ` : ""}from whom is not known`;
  return hidden || (way === Way.WHISPERED ? WHISPERED : "aloud");
}

/** Draw what else was said of it until a time: told again, or asked. What is on the map has its number here, too. */
function drawNews(until, show) {
  const news = page.fact.who.news.filter(({ time }) => seconds(time) <= until);
  byId("later").hidden = !news.length;
  const list = byId("news");
  const drawn = JSON.stringify(news);
  if (list.dataset.drawn === drawn) return;
  list.dataset.drawn = drawn;
  const lines = news.map((each) => newsLine(each, show));
  const rest = lines.length - NEWS;
  fill(
    list,
    rest > 1 ? lines.slice(0, NEWS) : lines,
    rest > 1
      ? el(
          "li",
          {},
          el(
            "details",
            {},
            el("summary", {}, `${count(rest)} more`),
            el("ol", { class: "news" }, lines.slice(NEWS)),
          ),
        )
      : null,
  );
}

function newsLine({ id, n, time, speaker, to, text, private: hidden, kind }, show) {
  const whom = to.length ? ` to ${inWords(to)}` : "";
  return el(
    "li",
    { class: hidden ? "whispered" : "" },
    onMap(tellingOf(id, n)?.number, show),
    el("span", { class: "dim" }, `${tick(time, false)} `),
    el("b", {}, el("bdi", {}, `${speaker}${whom}`)),
    hidden ? [" ", privacyMark(hidden)] : null,
    BEARS[kind] ? el("span", { class: "dim" }, BEARS[kind]) : null,
    ": ",
    el("a", { href: `/agents/fact?agent=${id}&n=${n}`, dir: "auto" }, text),
  );
}
