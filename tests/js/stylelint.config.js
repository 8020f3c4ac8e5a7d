// Style sheets use features of the oldest browsers (docs/browsers.md). Newer features are inside `@supports`, so that
// the page is complete without them. Two plugins check this, by Baseline and by caniuse, since each has gaps.
import noUnsupported from "stylelint-no-unsupported-browser-features";
// biome-ignore lint/correctness/noUnresolvedImports: Node.js finds the package, Biome does not
import useBaseline from "stylelint-plugin-use-baseline";
import { BASELINE_YEAR, OLDEST_BROWSERS } from "./browsers.js";

/** Features newer than that year in Baseline that all listed browsers have, possibly under a prefixed name. */
const SUPPORTED = {
  "accent-color": ["/./"],
  appearance: ["none"],
  "color-scheme": ["/./"],
  contain: ["layout", "style"],
  "font-family": ["ui-monospace"],
  "forced-color-adjust": ["none"],
  "overflow-wrap": ["anywhere"],
  "scroll-behavior": ["auto"],
  outline: ["/./"], // older browsers draw square corners
};
/** Newer features that a page does not need: without them a line breaks elsewhere, or the page scrolls on. */
const OPTIONAL = { "overscroll-behavior": ["contain"], "text-wrap": ["balance"] };

const rules = (tolerated, ignored) => ({
  plugins: [useBaseline, noUnsupported],
  rules: {
    "plugin/use-baseline": [
      true,
      { available: BASELINE_YEAR, ignoreProperties: tolerated, ignoreSelectors: ["focus-visible", "backdrop"] },
    ],
    "plugin/no-unsupported-browser-features": [
      true,
      // Caniuse has no alternative names, and no parts of its features.
      {
        browsers: OLDEST_BROWSERS,
        ignorePartialSupport: true,
        ignore: ["css-touch-action", "extended-system-fonts", ...ignored],
      },
    ],
  },
});

/** Rules that find the features that the oldest browsers ignore, for old_browser.js. */
export const OLDEST_RULES = rules(SUPPORTED, []);

export default {
  // The other plugin checks that :has() is inside `@supports`.
  ...rules({ ...SUPPORTED, ...OPTIONAL }, ["css-has", "css-overscroll-behavior"]),
  reportNeedlessDisables: true,
};
