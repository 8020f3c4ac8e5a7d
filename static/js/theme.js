/* Light or dark: loaded in <head> as a plain script, so that the page is never painted in the wrong theme first. */
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  /** @type {string|null} */
  let kept = null;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    /* storage is off: follow the system */
  }
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  root.classList.add("has-js");

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const name = () => button.setAttribute("aria-label", isDark() ? "Use the light theme" : "Use the dark theme");
    name();
    dark.addEventListener("change", name);
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        /* storage is off: the choice lasts for this page only */
      }
      name();
    });
  });
})();
