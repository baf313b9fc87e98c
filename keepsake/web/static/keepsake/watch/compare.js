/* Two agents side by side: their memories, what both know of a person, and how each has a fact. */

import { get } from "./api.js";
import { prose } from "./book.js";
import { announce, bindKeys, byId, count, el, fill, many, moment, personLink } from "./dom.js";
import { TIERS } from "./memories.js";
import { notedList } from "./noted.js";
import { personCard } from "./person_card.js";
import { tierBar } from "./scrubber.js";
import { WHERE, stands } from "./standings.js";

const asked = new URLSearchParams(location.search);
const form = byId("compare");
/** What is known of each agent at a glance, by its number; and all people, null until they are known. */
let rows = new Map();
let people = null;
/** How often was asked: only the last answer is shown. */
let asks = 0;
/** The answer about the words of the address. To follow words takes longest, so it begins before all else. */
let early = asked.get("q")?.trim() ? get("fact", { q: asked.get("q").trim() }) : null;
early?.catch(() => {}); // draw() reports it

function chosen() {
  return [...form.querySelectorAll("select[name=a], select[name=b]")].map(({ value }) =>
    Number(value),
  );
}

async function start() {
  try {
    // Whom they know is known later than how they are: their memories do not wait for it.
    const known = get("people");
    known.catch(() => {}); // awaited below
    const { agents } = await get("agents");
    rows = new Map(agents.map((each) => [each.id, each]));
    for (const name of ["a", "b"]) {
      fill(
        form.elements[name],
        agents.map((each) => el("option", { value: each.id }, each.name)),
      );
    }
    // Those who remember most have most to compare.
    const ids = agents.toSorted((x, y) => y.memories - x.memories).map(({ id }) => id);
    const a = Number(asked.get("a") ?? ids[0]);
    form.elements.a.value = a;
    form.elements.b.value = asked.get("b") ?? ids.find((id) => id !== a) ?? a;
    form.elements.q.value = asked.get("q") ?? "";
    const drawn = draw(asked.get("person") ?? "");
    drawn.catch(() => {}); // awaited below
    people = await known;
    offerPeople();
    form.elements.person.value = asked.get("person") ?? "";
    await drawn;
    summarise();
  } catch (problem) {
    trouble(problem);
  }
}

/** Offer the people whom both agents know first, then those whom one of them knows. */
function offerPeople() {
  const now = form.elements.person.value;
  const [a, b] = chosen();
  const known = (row) => Number(row.known_by.includes(a)) + Number(row.known_by.includes(b));
  const group = (label, rows) =>
    rows.length
      ? el(
          "optgroup",
          { label },
          rows.map((each) => el("option", { value: each.key }, each.name)),
        )
      : null;
  fill(
    form.elements.person,
    el("option", { value: "" }, "nobody in particular"),
    group(
      "known to both",
      people.filter((each) => known(each) === 2),
    ),
    group(
      "known to one",
      people.filter((each) => known(each) === 1),
    ),
  );
  form.elements.person.value = now;
  if (form.elements.person.selectedIndex < 0) form.elements.person.value = "";
}

/** Draw both agents, and what they know of a person, whom the address may name before all people are known. */
async function draw(person = form.elements.person.value) {
  const [a, b] = chosen();
  if (!a || !b) return;
  fill(byId("summary"), "Loading …");
  const words = form.elements.q.value.trim();
  const fact = words ? (early ?? get("fact", { q: words })) : null;
  early = null;
  const asking = ++asks;
  const about = Promise.all([person ? get("person", { key: person }) : null, fact]);
  about.catch(() => {}); // reported below
  const tiers = await Promise.all([a, b].map((id) => get(`agents/${id}/tiers`)));
  if (asking !== asks) return;
  const both = [rows.get(a), rows.get(b)];
  // What is there is shown at once: to follow words takes longer.
  const most = Math.max(...tiers.map(({ total }) => total), 1);
  fill(
    byId("memory"),
    both.map((row, i) => memory(row, tiers[i], most)),
  );
  const [known, followed] = await about;
  if (asking !== asks) return;
  byId("of-person").hidden = !known;
  if (known) {
    fill(
      byId("of-person-title"),
      "What they know of ",
      personLink(known.person.name, known.person),
    );
    fill(
      byId("known"),
      both.map((row) => {
        const found = known.agents.find(({ id }) => id === row.id);
        return found
          ? personCard(found, known.person.name)
          : el(
              "li",
              { class: "known" },
              el("h3", { dir: "auto" }, row.name),
              el(
                "p",
                { class: "dim" },
                row.id === known.person.id
                  ? "That is the agent itself."
                  : `Knows nothing of ${known.person.name}.`,
              ),
            );
      }),
    );
  }
  byId("of-fact").hidden = !followed;
  if (followed) {
    fill(
      byId("of-fact-title"),
      "How they have “",
      el("a", { href: `/agents/fact?q=${encodeURIComponent(words)}` }, el("bdi", {}, words)),
      "”",
    );
    fill(
      byId("standing"),
      both.map((row) => standing(row, followed)),
    );
  }
  byId("trouble-here").hidden = true;
  if (people) summarise();
}

/** Say how many people both know, as soon as that is known. */
function summarise() {
  const [a, b] = chosen();
  const names = `${rows.get(a).name} and ${rows.get(b).name}`;
  const shared = people.filter(({ known_by: by }) => by.includes(a) && by.includes(b));
  fill(byId("summary"), `${names} both know ${many(shared.length, "person", "people")}.`);
  document.title = names;
  announce(byId("summary").textContent);
}

function memory(row, tiers, most) {
  const { first, total, longterm, recent, window_first: window } = tiers;
  const parts = {
    cleared: Math.max(first - 1, 0),
    longterm: longterm ? longterm.last - longterm.first + 1 : 0,
    recent: recent ? recent.last - recent.first + 1 : 0,
    window: total - window + 1,
    total,
  };
  return el(
    "li",
    { class: "known" },
    el("h3", {}, el("a", { href: `/agents/${row.id}/`, dir: "auto" }, row.name)),
    el(
      "p",
      { class: "dim" },
      `${row.state}, in ${row.place}. ${many(total, "memory", "memories")}.`,
    ),
    tierBar(parts, most),
    [recent, longterm].map((summary) =>
      summary
        ? el(
            "details",
            { open: true },
            el(
              "summary",
              {},
              TIERS[summary.tier],
              " ",
              el("small", {}, `memories ${count(summary.first)}–${count(summary.last)}`),
            ),
            linked(prose(summary.text), row.id),
          )
        : null,
    ),
    recent || longterm
      ? null
      : el(
          "p",
          { class: "dim" },
          total
            ? "It has everything word for word: nothing was summarised yet."
            : "It remembers nothing yet.",
        ),
  );
}

/** The links to memories of a summary lead to the agent's page. */
function linked(text, id) {
  for (const link of text.querySelectorAll('a[href^="#memory/"]'))
    link.href = `/agents/${id}/${link.hash}`;
  return text;
}

function standing({ id, name }, { knowers, echoes, noted: all }) {
  const knower = knowers.find((each) => each.id === id);
  const echo = echoes.find((each) => each.id === id);
  const noted = all.filter((each) => each.id === id);
  const head = el("h3", {}, el("a", { href: `/agents/${id}/`, dir: "auto" }, name));
  if (!knower)
    return el(
      "li",
      { class: "known" },
      head,
      el("p", {}, withoutMemory(echo, noted)),
      echo ? el("p", {}, el("q", { dir: "auto" }, echo.said)) : null,
      notedList(noted),
    );
  const last = knower.spells.at(-1);
  return el(
    "li",
    { class: `known ${last.standing}` },
    head,
    el("p", {}, "This agent ", stands(last, true), "."),
    el("p", {}, el("q", { dir: "auto" }, last.has || knower.heard)),
    notedList(noted),
    el(
      "p",
      { class: "dim" },
      `Since ${moment(knower.path.at(-1).time)}`,
      knower.source ? `, from ${knower.source}` : "",
    ),
    el(
      "p",
      {},
      knower.memories
        .slice(-8)
        .map((n, i) => [
          i ? ", " : "",
          el("a", { href: `/agents/${id}/#memory/${n}` }, `memory ${count(n)}`),
        ]),
    ),
  );
}

/** How an agent has words that no memory of it has in the same form. */
function withoutMemory(echo, noted) {
  if (echo)
    return `Has it ${WHERE[echo.standing]}, ${echo.memories?.length ? "from memories in other words" : "but no memory with these words"}.`;
  if (noted.length) return "Has it in its books, but no memory with these words.";
  return "Is not known to know it.";
}

function trouble(problem) {
  fill(byId("summary"));
  byId("trouble-here").hidden = false;
  fill(byId("trouble-here"), problem.message);
}

function changed(event) {
  event?.preventDefault();
  if (people) offerPeople();
  const fields = [...new FormData(form)].filter(([, value]) => value);
  history.replaceState(null, "", `?${new URLSearchParams(fields)}`);
  draw().catch(trouble);
}

form.addEventListener("submit", changed);
form.addEventListener("change", changed);
bindKeys([
  ["/", "type words", () => form.elements.q.focus()],
  ["u", "up to all agents", () => byId("up").click()],
]);
start();
