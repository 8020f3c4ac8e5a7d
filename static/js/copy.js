/** Copying text from the page to the clipboard. */

/**
 * Copies the text of an element or the content of a field. If the browser refuses its clipboard, the function selects
 * the text and copies the selection.
 *
 * @param {HTMLElement} source
 * @returns {Promise<boolean>} whether the text was copied; otherwise the text is selected, and the reader can copy it
 */
export async function copyFrom(source) {
  const isField = source instanceof HTMLInputElement;
  try {
    await navigator.clipboard.writeText(isField ? source.value : source.textContent);
    return true;
  } catch {
    // Access to the clipboard needs a permission and https. Copying a selection needs neither.
    if (isField) {
      source.focus();
      source.select();
    } else getSelection()?.selectAllChildren(source);
    return document.execCommand("copy");
  }
}
