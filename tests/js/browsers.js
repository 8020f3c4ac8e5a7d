/** The oldest browsers that the site is made for, by their names in caniuse; docs/browsers.md says the same to people. */
export const OLDEST = ["safari 15.4", "ios_saf 15.4", "chrome 100", "edge 100", "firefox 100"];

/** What Baseline gives for all of them: their common part of 2021 is what every one of them has. */
export const BASELINE_YEAR = 2021;
