/* The box "What do you want to know?": the questions that typed words may mean, each with its short answer. */

import { get } from "./api.js";
import { KEY, byId, el, fill, setAttribute } from "./dom.js";
import { QuestionKind } from "./kinds.js";
import { answerTo, answerWords } from "./short_answer.js";

/** Milliseconds without a key until the words count as typed. */
const PAUSE = 200;
/** Milliseconds more before it is asked who knows of the words, for which all archives are read. */
const REST = 800;
/** The questions that are answered at once; the lines of the first, and of each other. */
const ANSWERED = 4;
const LINES = [4, 2];

const input = byId("ask");
/** Where the box has no room for all of what may be typed. */
const PHONE = "(width < 40rem)";

if (input) {
  combobox(input, byId("offers"));
  if (window.matchMedia(PHONE).matches)
    input.placeholder = input.dataset.brief ?? input.placeholder;
}

/** Let a list of answers follow what is typed, as the pattern of a combobox has it. */
function combobox(field, list) {
  const answers = new Map(); // what was answered, by address
  let typing = null;
  let asked = "";

  for (const [name, value] of Object.entries({
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": list.id,
  }))
    field.setAttribute(name, value);

  const active = () => list.querySelector('[aria-selected="true"]');

  function show(shown) {
    list.hidden = !shown;
    field.setAttribute("aria-expanded", String(shown));
    if (!shown) choose(null);
  }

  function choose(option) {
    if (active()) active().setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    setAttribute(field, "aria-activedescendant", option?.id ?? null);
  }

  async function ask() {
    const words = field.value.trim();
    if (words === asked) return show(Boolean(words) && list.childElementCount > 0);
    asked = words;
    if (!words) return show(false);
    const found = await get("asked", { q: words, agent: field.dataset.agent ?? null }).catch(
      () => [],
    );
    if (asked !== words) return undefined; // more was typed meanwhile
    fill(list, found.map(option));
    show(document.activeElement === field && found.length > 0);
    return Promise.all(found.slice(0, ANSWERED).map((offer, i) => answer(offer, i)));
  }

  function option({ question, address }, i) {
    return el(
      "li",
      { role: "option", id: `offer-${i}`, "aria-selected": "false", "data-address": address },
      el("b", { dir: "auto" }, question),
      el("span", { class: "answer" }),
    );
  }

  /** Fill in the answer of an option, unless other ones are shown by then. */
  async function answer({ id, asked: of, about, address }, i) {
    const place = list.children[i].querySelector(".answer");
    const slow = of === QuestionKind.WHO;
    if (slow && i) return; // its page answers it
    if (!answers.has(address)) fill(place, "…");
    try {
      if (slow) await new Promise((rested) => setTimeout(rested, REST));
      if (!place.isConnected) return; // other words were typed meanwhile
      if (!answers.has(address)) answers.set(address, (await answerTo(id, of, about)).lines);
      fill(place, answerWords(answers.get(address), LINES[Math.min(i, 1)]));
    } catch {
      fill(place); // its page says what is wrong
    }
  }

  function go(chosen) {
    location.assign(chosen.dataset.address);
  }

  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(ask, PAUSE);
  });
  field.addEventListener("focus", ask);
  field.addEventListener("blur", () => show(false));
  field.addEventListener("keydown", (event) => {
    const options = [...list.children];
    if (event.key === KEY.escape && !list.hidden) {
      event.preventDefault();
      show(false);
    } else if (["ArrowDown", "ArrowUp"].includes(event.key) && options.length) {
      event.preventDefault();
      show(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      const at = options.indexOf(active()) + step;
      choose(options[at] ?? (step > 0 ? null : options.at(at < -1 ? -1 : at)));
    } else if (event.key === KEY.enter && active()) {
      event.preventDefault();
      go(active());
    }
  });
  // The field keeps the focus while an option is clicked.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-address]");
    if (chosen) go(chosen);
  });
}
