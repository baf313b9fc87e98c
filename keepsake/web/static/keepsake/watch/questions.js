/* The panel "What do you want to know?": an agent that is chosen in one question is chosen in all. */

/** Let all pickers of agents follow the one that was changed. */
export function followOneAgent() {
  const pickers = [...document.querySelectorAll('.questions select[name="agent"]')];
  for (const picker of pickers) picker.addEventListener("change", () => pickers.forEach((each) => (each.value = picker.value)));
}
