/** Shows every `<time data-local>` in the browser's time zone, and fills in the time zone of a new schedule. */

/** Empty if the browser does not know its time zone. Some browsers then report "Etc/Unknown". */
const browserZone = (Intl.DateTimeFormat().resolvedOptions().timeZone || "").replace("Etc/Unknown", "");
const fullFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
const shortFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

for (const time of document.querySelectorAll("time")) {
  if (!("local" in time.dataset)) continue;
  // The short form is for tables, where the head of the column names the time zone.
  time.textContent =
    time.dataset.local === "short"
      ? shortFormat.format(new Date(time.dateTime)).replace(",", "")
      : fullFormat.format(new Date(time.dateTime));
  time.title = browserZone;
}

const columnHead = document.getElementById("zone");
if (columnHead && browserZone) columnHead.textContent = ` (${browserZone})`;

const zoneField = /** @type {HTMLInputElement|null} */ (document.getElementById("id_timezone"));
const hint = document.getElementById("zone-here");
if (zoneField && hint && browserZone) {
  const showHint = () => {
    hint.textContent = zoneField.value === browserZone ? "It is yours." : `Yours is ${browserZone}.`;
  };
  // The attribute `data-take` marks the form of a new schedule that has not been sent yet.
  if ("take" in hint.dataset) zoneField.value = browserZone;
  zoneField.addEventListener("input", showHint);
  showHint();
}
