/* The light or dark theme. A classic script in <head>, so that the page is never painted in the wrong theme first. */
(() => {
  const root = document.documentElement;
  const darkSystem = matchMedia("(prefers-color-scheme: dark)");
  /** @type {string|null} */
  let stored = null;
  try {
    stored = localStorage.getItem("theme");
  } catch {
    /* storage is off: the theme of the system applies */
  }
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  root.classList.add("has-js");

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkSystem.matches);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const updateLabel = () =>
      button.setAttribute("aria-label", isDark() ? "Use the light theme" : "Use the dark theme");
    updateLabel();
    darkSystem.addEventListener("change", updateLabel);
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        /* storage is off: the choice lasts for this page only */
      }
      updateLabel();
    });
  });
})();
