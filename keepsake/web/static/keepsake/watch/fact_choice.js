/* Which lines mean the typed words: links that leave one out or take one in, and a model that reads them all.
 *
 * What was chosen stands in the address, so it can be shared, and is forgotten with it.
 */

import { builders, post } from "./api.js";
import { count, el, fill, many } from "./dom.js";
import { chosen, page } from "./fact_state.js";

/** Milliseconds to wait for the model: the server waits two minutes. */
const PATIENCE = 130000;

const line = ({ id, n }) => `${id}-${n}`;
/** The lines of a strand by which it was chosen: any of its lines may be among them. */
const chosenOf = ({ chosen: lines = [] }) => lines;
const listed = (name) => (page.parameters.get(name) ?? "").split(",").filter(Boolean);

/** The address of this page with other choices. */
function address(changes) {
  const parameters = new URLSearchParams(page.parameters);
  for (const [name, lines] of Object.entries(changes)) {
    if (lines.length) parameters.set(name, [...new Set(lines)].join(","));
    else parameters.delete(name);
  }
  return `?${parameters}`;
}

/** A link that leaves a strand out of what is followed; null if there is only one thing to follow. */
export function leaveOut(strand) {
  if (!strand?.likely || page.fact.strands.length < 2) return null;
  return el(
    "a",
    {
      class: "where",
      title: `Leave out “${strand.text}” and what goes with it: it means something else`,
      href: address(
        chosenOf(strand).length
          ? { also: without(strand) }
          : { without: [...listed("without"), line(strand)] },
      ),
    },
    "not this one",
  );
}

/** A link that takes a line in that was left out, or that is only near in meaning; `text`: what it says. */
export function takeIn(strand, text = "put it back") {
  return el(
    "a",
    {
      class: strand.refused ? "where" : "meant",
      dir: "auto",
      title: strand.refused ? "" : "Count this line: it is what I mean",
      "data-opens": true,
      href: address({
        also: strand.refused ? listed("also") : [...listed("also"), line(strand)],
        without: listed("without").filter((each) => each !== line(strand)),
      }),
    },
    text,
  );
}

/** A box for a line of several that are meant; `ticked()`: called whenever it changes. */
export function box(strand, ticked) {
  return el("input", {
    type: "checkbox",
    value: line(strand),
    "aria-label": `I mean this line: ${strand.text}`,
    on: { change: ticked },
  });
}

/** A button that counts the lines whose boxes are ticked in a list; `update()` has it say how many. */
export function takeTicked(list, follow) {
  const ticked = () => [...list.querySelectorAll("input:checked")].map(({ value }) => value);
  const button = el("button", {
    type: "button",
    on: {
      click: () =>
        follow(
          address({
            also: [...listed("also"), ...ticked()],
            without: listed("without").filter((each) => !ticked().includes(each)),
          }),
        ),
    },
  });
  const update = () => {
    const number = ticked().length;
    button.disabled = !number;
    button.textContent = number === 1 ? "This one" : number ? `These ${count(number)}` : "These";
  };
  update();
  return { button, update };
}

/** What was chosen, by whom, and how to see all again; a button that has a model choose. */
export function choices(follow) {
  const { strands, reader } = page.fact;
  const all = [...strands, ...page.near];
  const out = strands.filter((each) => each.refused).length;
  const by = page.parameters.get("by");
  const again = address({ also: [], without: [], by: [] });
  const outcome = el("span", { role: "status" });
  return [
    chosen() || by
      ? el(
          "p",
          { class: "chosen" },
          by
            ? `The model ${by} chose ${count(
                strands.filter((each) => each.likely).length,
              )} of ${many(all.length, "thing")} said with these words, or near in meaning. It may err. `
            : [out ? `${many(out, "line")} left out by hand. ` : "", picked()],
          el("a", { href: again }, "Show all again"),
        )
      : null,
    reader && all.length > 1 && !by
      ? builders(
          el(
            "p",
            {},
            el(
              "button",
              { type: "button", on: { click: ({ target }) => ask(target, outcome, follow) } },
              `Ask the model which of these ${count(all.length)} mean “${page.fact.words}”`,
            ),
            " ",
            outcome,
          ),
        )
      : null,
  ];
}

/** The lines that were chosen by hand, each with a link that gives it up. */
function picked() {
  const lines = page.fact.strands.filter((each) => each.likely && chosenOf(each).length);
  return lines.map((each) => [
    lines[0] === each ? "Chosen: " : "",
    el("q", { dir: "auto" }, each.text),
    " ",
    el("a", { class: "where", href: address({ also: without(each) }) }, "not this one"),
    " ",
  ]);
}

/** The chosen lines but those of a strand. */
function without(strand) {
  return listed("also").filter((each) => !chosenOf(strand).includes(each));
}

/** Ask the model once, and go to the address that has its answer. */
async function ask(button, outcome, follow) {
  button.disabled = true;
  fill(outcome, "The model reads them, in one call. This may take a minute …");
  try {
    const { meant, other, model } = await post(
      "fact/meant",
      { q: page.fact.words, also: listed("also").join(",") },
      PATIENCE,
    );
    const found = new Map(page.fact.strands.map((each) => [line(each), each]));
    const likely = (each) => isLikely(found.get(line(each)) ?? {});
    follow(
      address({
        also: meant.filter((each) => !likely(each)).map(line),
        without: other.filter(likely).map(line),
        by: [model],
      }),
    );
  } catch (problem) {
    fill(outcome, problem.message);
    button.disabled = false;
  }
}

/** Whether a strand is followed if nobody chooses. */
function isLikely({ likely, refused, ...strand }) {
  return (likely && !chosenOf(strand).length) || refused;
}
