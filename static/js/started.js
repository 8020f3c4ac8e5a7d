/**
 * Reports whether the page's scripts ran: its root gets the class `is-started`, or `is-stuck` if one failed to load or
 * to run.
 *
 * A classic script in old syntax, so that a browser without modules runs it too. It comes before all others.
 */
(() => {
  const { classList } = document.documentElement;
  const note = (/** @type {Event} */ event) => {
    // An asynchronous script, such as an extension's, is not part of the page.
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
