/** Checks that a saved page is complete, by its last element. It runs first, so that a truncated page says so. */
document.addEventListener("DOMContentLoaded", () => {
  if (document.getElementById("whole")) return;
  const told = document.createElement("p");
  told.className = "problem";
  told.setAttribute("role", "alert");
  told.textContent = "This saved page is cut off: a part of the file is missing. Please save it again.";
  document.body.prepend(told);
});
