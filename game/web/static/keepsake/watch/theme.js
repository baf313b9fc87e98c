/* Light or dark: as the system has it, or as somebody chose. Runs before anything is painted. */
"use strict";

(() => {
  const NEXT = { system: "light", light: "dark", dark: "system" };
  const root = document.documentElement;

  function kept() {
    try {
      const theme = localStorage.getItem("keepsake-theme");
      return theme in NEXT ? theme : "system";
    } catch {
      return "system"; // a browser that keeps nothing
    }
  }

  function show(theme, button) {
    root.dataset.theme = theme;
    if (!button) return;
    button.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
    button.title = `Colours: ${theme}. Press for ${NEXT[theme]}.`;
    button.setAttribute("aria-label", button.title);
  }

  show(kept());
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    show(kept(), button);
    button.addEventListener("click", () => {
      const theme = NEXT[root.dataset.theme];
      try {
        localStorage.setItem("keepsake-theme", theme);
      } catch {
        // It holds for this page then.
      }
      show(theme, button);
    });
  });
})();
