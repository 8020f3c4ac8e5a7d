/** The first page's form for a game with additions: who plays by the plain rules only gives way once one is chosen. */

for (const form of document.querySelectorAll(".play-with")) {
  const opponent = /** @type {HTMLSelectElement} */ (form.querySelector("[name=opponent]"));
  const options = [...opponent.options];
  const note = form.querySelector("[role=status]");
  let replaced = null;

  const fit = () => {
    const isPlain = !form.querySelector("[name=additions]:checked");
    for (const option of options) option.disabled = !isPlain && "plainOnly" in option.dataset;
    const chosen = options.find((option) => option.selected);
    if (chosen.disabled) {
      replaced = chosen;
      // The first one that plays by itself; a friend would have to be asked.
      options.find((option) => !option.disabled && option.value !== "human").selected = true;
    } else if (isPlain && replaced) {
      replaced.selected = true;
      replaced = null;
    }
    note.textContent = replaced ? `${replaced.text} plays by the plain rules only.` : "";
  };

  form.addEventListener("change", (event) => {
    if (event.target === opponent) replaced = null; // now it is their own choice
    fit();
  });
  addEventListener("pageshow", fit); // a browser that goes back fills forms in as they were left
}
