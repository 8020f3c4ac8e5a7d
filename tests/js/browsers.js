/** The oldest supported browsers by their names in caniuse, as in docs/browsers.md. */
export const OLDEST_BROWSERS = ["safari 15.4", "ios_saf 15.4", "chrome 100", "edge 100", "firefox 100"];

/** Baseline's year for these browsers: all of them have the features of Baseline 2021. */
export const BASELINE_YEAR = 2021;
