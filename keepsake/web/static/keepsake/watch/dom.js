/* Helpers for elements. Texts are only ever inserted as text nodes. */

import { byReader, formatter } from "./clock.js";
import { HappeningKind, MemoryKind } from "./kinds.js";

/** An HTML element; `options` are its attributes, and `on`: listeners, `vars`: CSS properties. */
export function el(tag, { on = {}, vars = {}, ...attributes } = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  // By the object model: the page's content security policy refuses the attribute "style".
  for (const [name, value] of Object.entries(vars)) node.style.setProperty(name, value);
  for (const [name, listener] of Object.entries(on)) node.addEventListener(name, listener);
  node.append(...given(children));
  return node;
}

function given(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined);
}

/** Set the text if it has changed; unchanged text keeps its selection. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute, or remove it if the value is null. */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Replace the content of a node. */
export function fill(node, ...children) {
  node.replaceChildren(...given(children));
  return node;
}

/** The element with that id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Announce words to screen readers; repeated words are announced again. */
export function announce(words) {
  const said = byId("said");
  said.textContent = words && said.textContent === words ? `${words}\u00a0` : words;
}

/** A function that calls `work` at most once in `pause` milliseconds, and always after its last call. */
export function throttled(work, pause) {
  let due = null;
  let last = 0;
  return () => {
    if (due !== null) return;
    due = setTimeout(
      () => {
        due = null;
        last = Date.now();
        work();
      },
      Math.max(0, last + pause - Date.now()),
    );
  };
}

/** The link to the page that follows a memory of an agent through all archives. */
export function whereLink(agent, number) {
  return el(
    "a",
    {
      href: `/agents/fact?agent=${agent}&n=${number}`,
      class: "where",
      title: "Where did it go? Who knows it, and who lost it",
    },
    "where did it go?",
  );
}

/** The link to why an agent did what it remembers as its own act: `m17` is memory 17, `h…` the act of a happening. */
export function whyLink(agent, act) {
  return el(
    "a",
    {
      href: `/agents/${agent}/#why/${act}`,
      class: "where",
      title: "What led to it: its prompt, and what it recalled",
    },
    "why?",
  );
}

/** The link to why that was done which an agent remembers: its own act, or what another agent said or did; null if no
 * agent did it, and if it has no act of it, as when somebody is seen coming. */
export function whyOf(agent, { kind, form, number, source_id: by, happening }) {
  if (kind === MemoryKind.ACT) return whyLink(agent, `m${number}`);
  const actor = agents()[by];
  return actor && happening && DONE.includes(form) ? whyLink(actor, `h${happening}`) : null;
}

const DONE = [HappeningKind.SPEECH, HappeningKind.POSE, HappeningKind.DEED];
let numbers = null;

/** The numbers of the agents by their identities, from the page. */
function agents() {
  numbers ??= JSON.parse(byId("agent-numbers")?.textContent || "{}");
  return numbers;
}

/** The link to what all agents know of a person, who is known by identity, agent's number or name. */
export function personLink(name, { key = "", id = null } = {}, attributes = {}) {
  const asked = id
    ? `agent=${id}`
    : key
      ? `key=${encodeURIComponent(key)}`
      : `name=${encodeURIComponent(name)}`;
  return el(
    "a",
    {
      href: `/agents/person?${asked}`,
      class: "person",
      dir: "auto",
      title: `What all agents know of ${name}`,
      ...attributes,
    },
    name,
  );
}

// -- the keyboard: single keys, a dialog that lists them, and moving between rows

const TYPING = "input:not([type=checkbox]), textarea, select";

/** Keys of the keyboard, as events name them. */
export const KEY = Object.freeze({ enter: "Enter", escape: "Escape" });

/** Bind keys; each is [key, description, function]. */
export function bindKeys(bindings) {
  const ask = byId("ask");
  const all = [
    ...bindings,
    ...(ask ? [["q", "ask something", () => ask.focus()]] : []),
    ["?", "show these keys", () => help.showModal()],
  ];
  const does = new Map(all.map(([key, , work]) => [key, work]));
  const help = dialog(all);
  document.body.append(help);
  document.getElementById("keys")?.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches(TYPING)) {
      if (event.key === KEY.escape) event.target.blur();
      return;
    }
    if (help.open || !does.has(event.key)) return;
    event.preventDefault();
    does.get(event.key)();
  });
}

function dialog(bindings) {
  const list = bindings.map(([key, words]) => [
    el("dt", {}, el("kbd", {}, key)),
    el("dd", {}, words),
  ]);
  const close = el("form", { method: "dialog" }, el("button", {}, "Close"));
  return el(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", {}, list),
    close,
  );
}

/** Keys for the rows (`[data-row]`) in the element `where()`: j and k move, Enter opens. */
export function rowKeys(where) {
  return [
    ["j", "next row", () => walk(where(), +1)],
    ["k", "row before", () => walk(where(), -1)],
    [KEY.enter, "open the row", () => open()],
  ];
}

function walk(holder, step) {
  const rows = [...holder.querySelectorAll("[data-row]")].filter(
    (row) => row.offsetParent !== null,
  );
  if (!rows.length) return;
  const now = rows.indexOf(document.activeElement.closest?.("[data-row]"));
  const next = now < 0 ? (step > 0 ? 0 : rows.length - 1) : now + step;
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

function open() {
  const at = document.activeElement;
  // Elements that a browser opens with Enter by itself are clicked. Those of a picture have no method for it.
  if (at.matches("a, button, summary"))
    at.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window }));
  else at.closest?.("[data-row]")?.querySelector("[data-opens]")?.click();
}

// -- numbers and times in words; times are by the world's clock, with the reader's and UTC in the title

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const date = formatter({ day: "numeric", month: "short", year: "numeric" });
const short = formatter({ weekday: "short", day: "numeric", month: "short" });
const clock = formatter({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const hours = formatter({ hour: "2-digit", minute: "2-digit" });

/** 12345 as 12,345. */
export function count(number) {
  return whole.format(number);
}

/** 0.427 as 43 %. */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** What share of a prompt's tokens was in a server's cache, which not every server says. */
export function cachedShare(cached, tokens) {
  return cached == null ? "an unknown share" : percent(cached / tokens);
}

/** A number with its noun: 1 memory, 2 memories. */
export function many(number, one, more = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : more}`;
}

/** A duration, rounded to its largest unit. */
export function seconds(value) {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 120) return `${Math.round(value)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  return value < 172800 ? `${Math.round(value / 3600)} h` : `${Math.round(value / 86400)} days`;
}

/** How long ago a time was; `at`: the present time, by the server's clock if it is known. */
export function ago(iso, at = Date.now()) {
  const past = (at - Date.parse(iso)) / 1000;
  return past < 5 ? "just now" : `${seconds(Math.max(past, 1))} ago`;
}

/** The time of day; with the date if it was not today. */
export function moment(iso) {
  const then = new Date(iso);
  return sameDay(then, Date.now())
    ? clock.format(then)
    : `${date.format(then)}, ${hours.format(then)}`;
}

/** Whether two times are on the same day of the world. */
export function sameDay(one, other) {
  return date.format(new Date(one)) === date.format(new Date(other));
}

/** The hour and minute; `long`: with the day, for charts of several days. */
export function tick(iso, long) {
  const then = new Date(iso);
  return long ? `${short.format(then)} ${hours.format(then)}` : hours.format(then);
}

/** A `time` element; `how` formats the time. */
export function time(iso, how = moment) {
  const then = new Date(iso);
  const utc = `${then.toISOString().replace("T", " ").slice(0, 19)} UTC`;
  return el(
    "time",
    { datetime: iso, title: [byReader(then), utc].filter(Boolean).join("; ") },
    how(iso),
  );
}
