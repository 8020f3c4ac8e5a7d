/** The first page's form for a game with additions: who is offered depends on them, and gives way where they are not. */

import { html } from "./dom.js";

for (const form of document.querySelectorAll(".play-with")) {
  const opponent = /** @type {HTMLSelectElement} */ (form.querySelector("[name=opponent]"));
  const note = form.querySelector("[role=status]");
  const who = form.querySelector(`#${opponent.getAttribute("aria-describedby")}`);
  const offers = JSON.parse(form.querySelector("script").textContent);
  const offerWith = (additions) => offers.find((one) => one.with.includes(additions)).offer;
  let wanted = opponent.value;

  /** Whoever was wanted, where they are offered; else whom somebody meets who does not choose. */
  const fit = () => {
    const boxes = [...form.querySelectorAll("[name=additions]:checked")];
    const offer = offerWith(boxes.map((box) => /** @type {HTMLInputElement} */ (box).value).join(" "));
    const isOffered = offer.opponents.some(({ slug }) => slug === wanted);
    const slug = isOffered ? wanted : offer.usual;
    opponent.replaceChildren(
      ...offer.opponents.map((one) =>
        html(
          "option",
          { value: one.slug, selected: one.slug === slug },
          [one.name, one.whom].filter(Boolean).join(", "),
        ),
      ),
    );
    const { summary, elo } = offer.opponents.find((one) => one.slug === slug);
    who.textContent = summary + (elo ? ` Elo ${elo.elo} (${elo.low} to ${elo.high}).` : "");
    note.textContent = isOffered ? "" : goneWords(wanted);
  };

  const goneWords = (slug) => {
    const places = offers.filter(({ offer }) => offer.opponents.some((one) => one.slug === slug));
    const { name } = places[0].offer.opponents.find((one) => one.slug === slug);
    const isPlain = places.every((one) => one.with.join() === "");
    return isPlain ? `${name} plays by the plain rules only.` : `${name} is not offered with these rules.`;
  };

  form.addEventListener("change", (event) => {
    if (event.target === opponent) wanted = opponent.value;
    fit();
  });
  addEventListener("pageshow", () => {
    wanted = opponent.value; // a browser that goes back fills forms in as they were left
    fit();
  });
}
