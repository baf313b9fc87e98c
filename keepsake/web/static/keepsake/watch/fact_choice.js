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
        listed("also").includes(line(strand))
          ? { also: listed("also").filter((each) => each !== line(strand)) }
          : { without: [...listed("without"), line(strand)] },
      ),
    },
    "not this one",
  );
}

/** A link that takes a strand in, which was left out or has only a part of the words. */
export function takeIn(strand) {
  return el(
    "a",
    {
      class: "where",
      href: address({
        also: strand.refused ? listed("also") : [...listed("also"), line(strand)],
        without: listed("without").filter((each) => each !== line(strand)),
      }),
    },
    strand.refused ? "put it back" : "this one, too",
  );
}

/** What was chosen, by whom, and how to see all again; a button that has a model choose. */
export function choices(follow) {
  const { strands, reader } = page.fact;
  const out = strands.filter((each) => each.refused).length;
  const by = page.parameters.get("by");
  const all = address({ also: [], without: [], by: [] });
  const outcome = el("span", { role: "status" });
  return [
    chosen() || by
      ? el(
          "p",
          { class: "chosen" },
          by
            ? `The model ${by} chose ${count(
                strands.filter((each) => each.likely).length,
              )} of ${many(strands.length, "thing")} said with these words. It may err. `
            : out
              ? `${many(out, "line")} left out by hand. `
              : "Lines were taken in by hand. ",
          el("a", { href: all }, "Show all again"),
        )
      : null,
    reader && strands.length > 1 && !by
      ? builders(
          el(
            "p",
            {},
            el(
              "button",
              { type: "button", on: { click: ({ target }) => ask(target, outcome, follow) } },
              `Ask the model which of these ${count(strands.length)} mean “${page.fact.words}”`,
            ),
            " ",
            outcome,
          ),
        )
      : null,
  ];
}

/** Ask the model once, and go to the address that has its answer. */
async function ask(button, outcome, follow) {
  button.disabled = true;
  fill(outcome, "The model reads them, in one call. This may take a minute …");
  try {
    const { meant, other, model } = await post("fact/meant", { q: page.fact.words }, PATIENCE);
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
  return (likely && !listed("also").includes(line(strand))) || refused;
}
