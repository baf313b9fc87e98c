/* The panel "What do you want to know?": an agent that is chosen in one question is chosen in all. */

/** Let all pickers of agents follow the one that was changed. */
export function followOneAgent() {
  const pickers = [...document.querySelectorAll('.questions select[name="agent"]')];
  let byKey = false; // with keys a change may be one step of several through the list
  for (const picker of pickers) {
    picker.addEventListener("pointerdown", () => (byKey = false));
    picker.addEventListener("keydown", () => (byKey = true));
    picker.addEventListener("change", () => {
      pickers.forEach((each) => (each.value = picker.value));
      if (!byKey) picker.form.querySelector('input[type="search"]')?.focus(); // what is typed next
    });
  }
}
