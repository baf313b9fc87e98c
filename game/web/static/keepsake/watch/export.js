/* Links to what a view shows, as files: JSON as programs read it, CSV for spreadsheets. */

import { lastAsked } from "./api.js";
import { el } from "./dom.js";

const FORMATS = ["json", "csv"];

/** Such links; `kind()` tells which answer of the API is shown where they stand. */
export function exportLinks(kind) {
  const link = (format) => el("a", { href: "#", on: { click: (event) => {
    const address = lastAsked(kind());
    if (address === null) return event.preventDefault();
    event.currentTarget.href = `${address}${address.includes("?") ? "&" : "?"}format=${format}`;
    event.currentTarget.download = `${kind()}.${format}`;
  } } }, format.toUpperCase());
  return el("p", { class: "export dim" }, "What is shown, as a file: ", link(FORMATS[0]), " ", link(FORMATS[1]));
}
