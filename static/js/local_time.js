/** Times in the reader's own time zone: fills every `<time data-local>`, and the time zone of a new schedule. */

// A computer with a wrong setting has no zone, or "Etc/Unknown".
const here = (Intl.DateTimeFormat().resolvedOptions().timeZone || "").replace("Etc/Unknown", "");
const full = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
const short = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

for (const time of document.querySelectorAll("time")) {
  if (!("local" in time.dataset)) continue;
  // A table names the time zone once, in its head.
  time.textContent =
    time.dataset.local === "short"
      ? short.format(new Date(time.dateTime)).replace(",", "")
      : full.format(new Date(time.dateTime));
  time.title = here;
}

const zone = document.getElementById("zone");
if (zone && here) zone.textContent = ` (${here})`;

// A new schedule keeps the time zone of the browser that it is made with.
const field = /** @type {HTMLInputElement|null} */ (document.getElementById("id_timezone"));
const beside = document.getElementById("zone-here");
if (field && beside && here) {
  const tell = () => {
    beside.textContent = field.value === here ? "It is yours." : `Yours is ${here}.`;
  };
  if ("take" in beside.dataset) field.value = here;
  field.addEventListener("input", tell);
  tell();
}
