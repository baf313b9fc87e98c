/* What a view shows, as a file: JSON as programs read it, CSV for spreadsheets. */

import { asFile } from "./api.js";
import { el, fill } from "./dom.js";

const FORMATS = ["json", "csv"];

/** A button for each format; `path()` tells which answer of the API is shown where they stand. */
export function exportButtons(path) {
  const trouble = el("span", { class: "problem" });
  const save = async (format) => {
    fill(trouble);
    try {
      const file = await asFile(path(), format);
      if (file) offer(file, `${path().replace(/[/@]/g, "-")}.${format}`);
      else fill(trouble, "Nothing is shown yet.");
    } catch (problem) {
      fill(trouble, problem.message);
    }
  };
  return el("p", { class: "export dim" }, "What is shown, as a file: ",
    FORMATS.map((format) => el("button", { type: "button", class: "plain", on: { click: () => save(format) } }, format.toUpperCase())), trouble);
}

function offer(file, name) {
  const href = URL.createObjectURL(file);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
