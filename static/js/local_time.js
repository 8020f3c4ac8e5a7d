/** Times in the reader's own time zone: fills every `<time data-local>`, and says what a typed UTC time is here. */

const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
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
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

for (const time of document.querySelectorAll("time")) {
  if (!("local" in time.dataset)) continue;
  // A table says the zone once, in its head.
  time.textContent =
    time.dataset.local === "short"
      ? short.format(new Date(time.dateTime)).replace(",", "")
      : full.format(new Date(time.dateTime));
  time.title = here;
}

const zone = document.getElementById("zone");
if (zone) zone.textContent = ` (${here})`;

const at = /** @type {HTMLInputElement|null} */ (document.getElementById("id_at"));
const beside = document.getElementById("at-local");
function tell() {
  const [hours, minutes] = at.value.split(":").map(Number);
  const moment = new Date();
  moment.setUTCHours(hours, minutes, 0, 0);
  beside.textContent = at.value ? `${clock.format(moment)} in your time` : "";
}
if (at && beside) {
  at.addEventListener("input", tell);
  tell();
}
