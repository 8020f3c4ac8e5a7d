// Style sheets use what the oldest browsers know (docs/browsers.md). What is newer stands within `@supports`, so that the
// page is whole without it. Two plugins look, since each sees what the other does not: one by Baseline, one by caniuse.
import noUnsupported from "stylelint-no-unsupported-browser-features";
// biome-ignore lint/correctness/noUnresolvedImports: it is there, and Node.js finds it
import useBaseline from "stylelint-plugin-use-baseline";
import { BASELINE_YEAR, OLDEST } from "./browsers.js";

/** Younger than that year in some browser, yet known to all of the list, by this name or by another that stands beside it. */
const KNOWN = {
  "accent-color": ["/./"],
  appearance: ["none"],
  "color-scheme": ["/./"],
  contain: ["layout", "style"],
  "font-family": ["ui-monospace"],
  "forced-color-adjust": ["none"],
  "overflow-wrap": ["anywhere"],
  "scroll-behavior": ["auto"],
  outline: ["/./"], // with corners that are not round
};
/** Newer than the list, and missed by no reader: a line breaks elsewhere, a page scrolls on. */
const NICETIES = { "overscroll-behavior": ["contain"], "text-wrap": ["balance"] };

const rules = (tolerated, ignored) => ({
  plugins: [useBaseline, noUnsupported],
  rules: {
    "plugin/use-baseline": [
      true,
      { available: BASELINE_YEAR, ignoreProperties: tolerated, ignoreSelectors: ["focus-visible", "backdrop"] },
    ],
    "plugin/no-unsupported-browser-features": [
      true,
      // Caniuse counts no other name, and no part of what it calls one feature.
      {
        browsers: OLDEST,
        ignorePartialSupport: true,
        ignore: ["css-touch-action", "extended-system-fonts", ...ignored],
      },
    ],
  },
});

/** What such a browser leaves out, for old_browser.js. */
export const OLD = rules(KNOWN, []);

export default {
  // The other plugin sees to :has(), and that it stands within `@supports`.
  ...rules({ ...KNOWN, ...NICETIES }, ["css-has", "css-overscroll-behavior"]),
  reportNeedlessDisables: true,
};
