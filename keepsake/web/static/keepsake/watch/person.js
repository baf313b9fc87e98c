/* One person across all agents: what each knows of them. Without a person: everybody whom agents know. */

import { get } from "./api.js";
import {
  announce,
  bindKeys,
  byId,
  count,
  el,
  fill,
  many,
  personLink,
  rowKeys,
  time,
} from "./dom.js";
import { QuestionKind } from "./kinds.js";
import { knownCard } from "./known_card.js";
import { personCard } from "./person_card.js";
import { PHONE } from "./questions.js";
import { lead } from "./short_answer.js";

/** The most cards that are drawn before the screen is; those after them are folded. On a phone only the first is open. */
const AT_ONCE = 6;
const asked = new URLSearchParams(location.search);
let people = [];

async function load() {
  const query = { key: asked.get("key"), name: asked.get("name"), id: asked.get("agent") };
  const by = asked.get("by");
  const whom = query.key ?? query.name;
  // The short answer comes before all that it is of.
  if (by && whom) fill(byId("answer"), lead(by, QuestionKind.KNOWS, whom));
  try {
    if (Object.values(query).some(Boolean)) drawPerson(await get("person", { ...query, by }));
    else {
      people = await get("people");
      byId("find").hidden = false;
      drawPeople();
    }
    announce(byId("summary").textContent);
  } catch (problem) {
    fill(byId("summary"));
    byId("trouble-here").hidden = false;
    fill(
      byId("trouble-here"),
      problem.message,
      " ",
      el("a", { href: "/agents/person" }, "Everybody whom agents know"),
    );
  }
}

/** The person as all agents know them; with `by=48` in the address only as that agent does. */
function drawPerson({ person, others, agents: all, strangers }) {
  const one = all.find(({ id }) => id === Number(asked.get("by")));
  document.title = one ? `What ${one.agent} knows of ${person.name}` : person.name;
  fill(
    byId("title"),
    one ? ["What ", el("bdi", {}, one.agent), " knows of "] : null,
    el("bdi", {}, person.name),
  );
  fill(
    byId("summary"),
    one ? "" : knownBy(person, all),
    person.names.length > 1 ? ` Also called ${person.names.slice(1).join(", ")}.` : "",
  );
  const everybody = el("a", { href: "/agents/person" }, "Everybody");
  fill(byId("links"), one ? linksOfOne(person, one, all) : links(person, all), everybody);
  const named = others.map((each, i) => [i ? ", " : "", personLink(each.name, each)]);
  fill(byId("others"), named.length ? ["Others of this name: ", named] : "");
  byId("list").classList.toggle("one", Boolean(one));
  if (one) fill(byId("list"), knownCard(one, person.name));
  else {
    const open = PHONE.matches ? 1 : AT_ONCE;
    drawCards(all.map((each, i) => () => personCard(each, person.name, i >= open)));
  }
  fill(
    byId("strangers"),
    !one && strangers.length ? `No page about ${person.name}: ${strangers.join(", ")}.` : "",
  );
}

/** The cards: those of the first screen at once, as it takes long to make all that fifty agents know. */
async function drawCards(made) {
  fill(byId("list"));
  for (let at = 0; at < made.length; at += AT_ONCE) {
    if (at) await new Promise((done) => setTimeout(done));
    byId("list").append(...made.slice(at, at + AT_ONCE).map((card) => card()));
  }
}

/** Who knows the person. Cards are long: each name leads to its own. */
function knownBy({ id }, agents) {
  const what = id ? [el("a", { href: `/agents/${id}/` }, "An agent"), "; "] : "Not an agent; ";
  if (!agents.length) return [what, "no agent knows them."];
  const card = (each, i) => [
    i ? ", " : "",
    el(
      "a",
      { href: `#knows-${each.id}`, dir: "auto", on: { click: () => unfold(each) } },
      each.agent,
    ),
  ];
  const met = agents.filter((each) => each.first_met).length;
  const some = met < agents.length ? `, ${count(met)} of whom met them` : "";
  return [
    what,
    `${many(agents.length, "agent knows", "agents know")} of them${some}: `,
    agents.map(card),
    ".",
  ];
}

/** Open the card that a name leads to, if it is folded. */
function unfold({ id }) {
  const fold = byId(`knows-${id}`)?.querySelector(".folded");
  if (fold) fold.open = true;
}

function links({ name, key }, agents) {
  const known = agents.filter(({ lines, portrait }) => lines.length || portrait);
  const said = encodeURIComponent(name);
  return [
    el("a", { href: `/agents/fact?q=${said}` }, `Where did news of ${name} go?`),
    known.length > 1 ? sideBySide(known[0], known[1], key) : null,
    el("a", { href: `/agents/search/?q=${said}` }, "Search their name"),
  ];
}

function sideBySide(one, other, key) {
  const href = `/agents/compare?a=${one.id}&b=${other.id}&person=${encodeURIComponent(key)}`;
  return el("a", { href }, `${one.agent} and ${other.agent} side by side`);
}

function linksOfOne({ name, key }, { id, agent }, agents) {
  const words = encodeURIComponent(name);
  const all = `What all ${count(agents.length)} agents know of ${name}`;
  return [
    agents.length < 2
      ? el("span", {}, `No other agent knows ${name}.`)
      : el("a", { href: `/agents/person?key=${encodeURIComponent(key)}` }, all),
    el(
      "a",
      { href: `/agents/search/?agent=${id}&q=${words}` },
      `Search the memory of ${agent} for ${name}`,
    ),
    el(
      "a",
      { href: `/agents/ask/said?agent=${id}&words=${words}` },
      `What ${agent} said to ${name}`,
    ),
  ];
}

function drawPeople() {
  const words = byId("filter").value.trim().toLowerCase();
  const shown = people.filter(
    ({ names }) => !words || names.join(" ").toLowerCase().includes(words),
  );
  fill(byId("summary"), `${many(shown.length, "person", "people")}, whom agents met last first.`);
  fill(byId("list"), shown.map(rowOf));
  byId("list").className = "hits";
}

function rowOf(person) {
  const met = person.known_by.length
    ? `met ${many(person.known_by.length, "agent")}`
    : "nobody has met them";
  return el(
    "li",
    { "data-row": true, tabindex: "-1" },
    el("b", {}, personLink(person.name, person, { "data-opens": true })),
    " ",
    el(
      "small",
      {},
      person.id ? "an agent; " : "",
      met,
      person.last_met ? [" · last met ", time(person.last_met)] : null,
      person.names.length > 1 ? ` · also ${person.names.slice(1).join(", ")}` : "",
    ),
  );
}

byId("filter").addEventListener("input", drawPeople);
bindKeys([
  ["/", "filter the people", () => byId("filter").focus()],
  ...rowKeys(() => byId("list")),
  ["u", "up to all agents", () => byId("up").click()],
]);
load();
