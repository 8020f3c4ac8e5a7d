/** Checks by the last element of a saved page that its file is not truncated, and shows an alert if it is. */
document.addEventListener("DOMContentLoaded", () => {
  if (document.getElementById("whole")) return;
  const alert = document.createElement("p");
  alert.className = "problem";
  alert.setAttribute("role", "alert");
  alert.textContent = "This saved page is cut off: a part of the file is missing. Please save it again.";
  document.body.prepend(alert);
});
