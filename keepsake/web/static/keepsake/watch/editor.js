/* Editing a file of an agent's books: its text, and the versions before, each of which can be brought back. */

import { act, actButton, builders, field, get, say } from "./api.js";
import { el, fill, time } from "./dom.js";

/** The most characters of a file; the server refuses more. */
const MOST = 200000;

/** A folded form that edits a file; `changed()` runs after an edit. `label` names what is edited. */
export function fileEditor(id, of, file, label, changed) {
  const inside = el("div", {});
  const load = async () => {
    const { text, versions } = await get(`agents/${id}/file`, { of, file });
    fill(inside, form(text), versions.length ? earlier(versions) : null);
  };
  const form = (was) => {
    const send = el("button", {}, "Save");
    const made = el(
      "form",
      {
        class: "act-form",
        on: {
          submit: async (event) => {
            event.preventDefault();
            send.disabled = true;
            const { text } = Object.fromEntries(new FormData(made));
            if (await act(id, "edit-file", { of, file, text, was })) await again();
            send.disabled = false;
          },
        },
      },
      field(`${file}, as it is stored`, "text", {
        lines: 14,
        most: MOST,
        value: was,
        needed: false,
      }),
      send,
    );
    return made;
  };
  const earlier = (versions) =>
    el(
      "details",
      {},
      el("summary", {}, `Earlier versions (${versions.length})`),
      el(
        "ol",
        { class: "versions" },
        versions.map((version) =>
          el(
            "li",
            {},
            el(
              "p",
              {},
              "until ",
              time(version.until),
              " ",
              actButton(
                "Bring it back",
                `Bring back ${file} as it was?`,
                () => act(id, "restore-file", { of, file, version: version.id }),
                again,
              ),
            ),
            el("pre", { class: "sent", dir: "auto", tabindex: "0" }, version.text),
          ),
        ),
      ),
    );
  const again = async () => {
    details.open = false;
    fill(inside);
    await changed();
  };
  const details = builders(
    el(
      "details",
      {
        class: "file-editor",
        on: {
          toggle: () => {
            if (details.open && !inside.hasChildNodes())
              load().catch((problem) => say(problem.message, false));
          },
        },
      },
      el("summary", {}, label),
      inside,
    ),
  );
  return details;
}
