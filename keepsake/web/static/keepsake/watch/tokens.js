/* Tokens of programs: made, listed and revoked by builders. */

import { get, post } from "./api.js";
import { announce, bindKeys, byId, el, fill, time } from "./dom.js";

async function load() {
  try {
    draw(await get("tokens"));
    byId("make").hidden = false;
  } catch (problem) {
    trouble(problem);
  }
}

function trouble(problem) {
  byId("trouble-here").hidden = false;
  fill(byId("trouble-here"), problem.message);
}

function draw(tokens) {
  byId("trouble-here").hidden = true;
  fill(
    byId("tokens"),
    tokens.length
      ? tokens.map((each) =>
          el(
            "li",
            { "data-row": true, tabindex: "-1" },
            el("b", { dir: "auto" }, each.name),
            el("span", { class: "badge" }, each.writes ? "read and write" : "read only"),
            el(
              "small",
              {},
              "made ",
              time(each.made),
              each.by ? ` by ${each.by}` : " by the keepsake command",
              each.last_used
                ? [", last used ", time(each.last_used)]
                : ", not used since the server's start",
            ),
            el("button", { type: "button", on: { click: () => revoke(each) } }, "Revoke"),
          ),
        )
      : el("li", { class: "dim" }, "There are no tokens."),
  );
}

async function revoke({ id, name }) {
  if (!confirm(`Revoke ${name}? Programs with this token are refused at once.`)) return;
  try {
    await post("tokens/revoke", { id });
    announce(`Revoked ${name}`);
    await load();
  } catch (problem) {
    trouble(problem);
  }
}

byId("make").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  try {
    const { token, secret } = await post("tokens", {
      name: form.elements.name.value,
      writes: form.elements.writes.checked,
    });
    form.reset();
    byId("new").hidden = false;
    fill(byId("new-name"), token.name);
    byId("secret").value = secret;
    byId("secret").focus();
    byId("secret").select();
    announce("The token is made. It is shown this once.");
    await load();
  } catch (problem) {
    trouble(problem);
  }
});
bindKeys([["u", "up to all agents", () => byId("up").click()]]);
load();
