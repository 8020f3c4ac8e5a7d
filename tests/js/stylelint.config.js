// Style sheets use features of the oldest browsers (docs/browsers.md). Newer features are inside `@supports`, so that
// the page is complete without them. Two plugins check this, by Baseline and by caniuse, since each has gaps.
import noUnsupported from "stylelint-no-unsupported-browser-features";
// biome-ignore lint/correctness/noUnresolvedImports: it is there, and Node.js finds it
import useBaseline from "stylelint-plugin-use-baseline";
import { BASELINE_YEAR, OLDEST } from "./browsers.js";

/** Newer than that year in some browser, but all listed browsers have it, under this name or one given beside it. */
const KNOWN = {
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
/** Newer than the list, but harmless where it is missing: a line breaks elsewhere, a page scrolls on. */
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
      // Caniuse has no alternative names, and no parts of its features.
      {
        browsers: OLDEST,
        ignorePartialSupport: true,
        ignore: ["css-touch-action", "extended-system-fonts", ...ignored],
      },
    ],
  },
});

/** Rules that find the features that such a browser ignores, for old_browser.js. */
export const OLD = rules(KNOWN, []);

export default {
  // The other plugin checks that :has() is inside `@supports`.
  ...rules({ ...KNOWN, ...NICETIES }, ["css-has", "css-overscroll-behavior"]),
  reportNeedlessDisables: true,
};
