/* The keyboard: single keys, a dialog that tells them, and rows to walk through. */

import { el } from "./dom.js";

const TYPING = "input:not([type=checkbox]), textarea, select";

/** Bind keys; each is [key, what it does in words, function]. */
export function bindKeys(bindings) {
  const all = [...bindings, ["?", "show these keys", () => help.showModal()]];
  const does = new Map(all.map(([key, , work]) => [key, work]));
  const help = dialog(all);
  document.body.append(help);
  document.getElementById("keys")?.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches(TYPING)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (help.open || !does.has(event.key)) return;
    event.preventDefault();
    does.get(event.key)();
  });
}

function dialog(bindings) {
  const list = bindings.map(([key, words]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, words)]);
  const close = el("form", { method: "dialog" }, el("button", {}, "Close"));
  return el("dialog", { class: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"), el("dl", {}, list), close);
}

/** Keys for the rows (`[data-row]`) that `where()` holds: j and k walk, Enter opens. */
export function rowKeys(where) {
  return [
    ["j", "next row", () => walk(where(), +1)],
    ["k", "row before", () => walk(where(), -1)],
    ["Enter", "open the row", () => open()],
  ];
}

function walk(holder, step) {
  const rows = [...holder.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
  if (!rows.length) return;
  const now = rows.indexOf(document.activeElement.closest?.("[data-row]"));
  const next = now < 0 ? (step > 0 ? 0 : rows.length - 1) : now + step;
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

function open() {
  const at = document.activeElement;
  // What a browser opens with Enter by itself goes on doing so.
  if (at.matches("a, button, summary")) at.click();
  else at.closest?.("[data-row]")?.querySelector("[data-opens]")?.click();
}
