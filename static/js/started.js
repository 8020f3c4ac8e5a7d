/**
 * Whether the page's scripts ran: its root is `is-started`, or `is-stuck` if one did not load or broke off at once.
 *
 * A plain script without news of the language, so that a browser without modules runs it. It comes before all others.
 */
(() => {
  const { classList } = document.documentElement;
  const note = (/** @type {Event} */ event) => {
    // An asynchronous one belongs to no page in particular.
    if (event.target !== window && !(event.target instanceof HTMLScriptElement && !event.target.async)) return;
    // A browser's own notice, such as of a ResizeObserver, has no error.
    if (event instanceof ErrorEvent && !event.error) return;
    classList.add("is-stuck");
    classList.remove("is-started");
  };
  addEventListener("error", note, true);
  addEventListener("unhandledrejection", note);
  document.addEventListener("DOMContentLoaded", () => {
    const hasModules = "noModule" in HTMLScriptElement.prototype;
    if (!classList.contains("is-stuck")) classList.add(hasModules ? "is-started" : "is-stuck");
  });
  // Later errors do not concern the start. A rejected promise is reported a little after the page is ready.
  const leave = () => {
    removeEventListener("error", note, true);
    removeEventListener("unhandledrejection", note);
  };
  addEventListener("load", () => setTimeout(leave, 1000));
})();
