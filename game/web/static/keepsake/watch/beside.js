/* Two agents side by side, of one world or of two: the sections of their pages, in two columns. */

import { get } from "./api.js";
import { byId, el, fill } from "./dom.js";
import { exportButtons } from "./export.js";
import { bindKeys } from "./keys.js";
import { MAKERS, SHOWN } from "./sections.js";

const FIRST = "charts";
const worlds = JSON.parse(document.body.dataset.worlds);
const columns = [...document.querySelectorAll(".beside > section")];
const choices = columns.map((column) => column.querySelector("select"));

/** What is shown, as the address has it: `?left=50&right=52@1&show=charts`; behind @ the world. */
function wanted() {
  const query = new URLSearchParams(location.search);
  return { left: query.get("left"), right: query.get("right"), show: query.get("show") };
}

async function offer() {
  const all = await Promise.all(worlds.map((_, place) => get(`agents@${place}`)));
  const options = () => all.map(({ agents }, place) => {
    const several = worlds.length > 1;
    return agents.map(({ id, name }) => el("option", { value: several ? `${id}@${place}` : String(id) }, several ? `${name}, ${worlds[place]}` : name));
  });
  for (const choice of choices) fill(choice, options());
  const { left, right, show } = wanted();
  const [own, other] = choices.map((choice) => [...choice.options].map((option) => option.value));
  choices[0].value = own.includes(left) ? left : own[0];
  // Beside an agent stands its like in the other run, or the next one of the same.
  const like = worlds.length > 1 ? other.indexOf(`${choices[0].value.split("@")[0]}@1`) : 1;
  choices[1].value = other.includes(right) ? right : other[Math.min(Math.max(like, 0), other.length - 1)];
  fill(byId("section"), Object.keys(MAKERS).map((name) => el("option", { value: name }, name)));
  byId("section").value = show in MAKERS ? show : FIRST;
}

async function draw(i) {
  const [failed, root] = [columns[i].querySelector(".failed"), columns[i].lastElementChild];
  const view = el("div", {});
  fill(root, view);
  fill(failed);
  try {
    await new MAKERS[byId("section").value](view, choices[i].value).load();
  } catch (problem) {
    fill(failed, problem.message);
  }
}

function turned() {
  const [left, right] = choices.map(({ value }) => value);
  history.replaceState(null, "", `?${new URLSearchParams({ left, right, show: byId("section").value })}`);
}

choices.forEach((choice, i) => choice.addEventListener("change", () => {
  turned();
  draw(i);
}));
byId("section").addEventListener("change", () => {
  turned();
  columns.forEach((_, i) => draw(i));
});
// What leads to a memory on an agent's own page leads there from here as well, in this world.
columns.forEach((column, i) => column.addEventListener("click", (event) => {
  const hash = event.target.closest("a")?.getAttribute("href");
  if (!hash?.startsWith("#")) return;
  event.preventDefault();
  const [id, place = "0"] = choices[i].value.split("@");
  if (place === "0") location.href = `/agents/${id}/${hash}`;
}));
columns.forEach((column, i) => column.firstElementChild.append(exportButtons(() => `agents/${choices[i].value}/${SHOWN[byId("section").value] ?? byId("section").value}`)));
bindKeys([["u", "up to all agents", () => byId("up").click()]]);
try {
  await offer();
  columns.forEach((_, i) => draw(i));
} catch (problem) {
  byId("trouble-here").hidden = false;
  fill(byId("trouble-here"), problem.message);
}
