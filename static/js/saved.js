/** Whether a saved page is whole: its last element says so. It stands before all else, so that a cut page says it is cut. */
document.addEventListener("DOMContentLoaded", () => {
  if (document.getElementById("whole")) return;
  const told = document.createElement("p");
  told.className = "problem";
  told.setAttribute("role", "alert");
  told.textContent = "This saved page is cut off: a part of the file is missing. Please save it again.";
  document.body.prepend(told);
});
