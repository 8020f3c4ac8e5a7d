/**
 * Reports whether the page's scripts ran: the root element gets the class `is-started`, or `is-stuck` if a script failed
 * to load or to run.
 *
 * A classic script in old syntax, so that browsers without modules run it too. It comes before all other scripts.
 */
(() => {
  const { classList } = document.documentElement;
  const reportError = (/** @type {Event} */ event) => {
    // Ignores other elements, and asynchronous scripts: these come from extensions, not from the page.
    if (event.target !== window && !(event.target instanceof HTMLScriptElement && !event.target.async)) return;
    // Ignores notices of the browser, such as those about a ResizeObserver. They have no error object.
    if (event instanceof ErrorEvent && !event.error) return;
    classList.add("is-stuck");
    classList.remove("is-started");
  };
  addEventListener("error", reportError, true);
  addEventListener("unhandledrejection", reportError);
  document.addEventListener("DOMContentLoaded", () => {
    const hasModules = "noModule" in HTMLScriptElement.prototype;
    if (!classList.contains("is-stuck")) classList.add(hasModules ? "is-started" : "is-stuck");
  });
  // Errors after the start are ignored. The delay is for rejected promises, which browsers report a little later.
  const stopListening = () => {
    removeEventListener("error", reportError, true);
    removeEventListener("unhandledrejection", reportError);
  };
  addEventListener("load", () => setTimeout(stopListening, 1000));
})();
