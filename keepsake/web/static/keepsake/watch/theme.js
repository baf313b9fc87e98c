/* Light or dark: as the system has it, or as somebody chose. Runs before anything is painted. */
"use strict";

(() => {
  const NEXT = { system: "light", light: "dark", dark: "system" };
  const root = document.documentElement;
  const kept = localStorage.getItem("keepsake-theme");
  root.dataset.theme = kept in NEXT ? kept : "system";

  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => {
      const { theme } = root.dataset;
      button.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
      button.title = `Colours: ${theme}. Press for ${NEXT[theme]}.`;
      button.setAttribute("aria-label", button.title);
    };
    show();
    button.addEventListener("click", () => {
      root.dataset.theme = NEXT[root.dataset.theme];
      localStorage.setItem("keepsake-theme", root.dataset.theme);
      show();
    });
  });
})();
