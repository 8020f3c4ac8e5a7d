/** Copies text of the page to the clipboard. */

/**
 * Copies the text of an element or the content of a field. If the browser refuses the first way, uses an older one.
 *
 * @param {HTMLElement} source
 * @returns {Promise<boolean>} whether the text is copied; if not, it is selected
 */
export async function copyFrom(source) {
  const isField = source instanceof HTMLInputElement;
  try {
    await navigator.clipboard.writeText(isField ? source.value : source.textContent);
    return true;
  } catch {
    // The clipboard needs a permission and https. Copying a selection needs neither.
    if (isField) {
      source.focus();
      source.select();
    } else getSelection()?.selectAllChildren(source);
    return document.execCommand("copy");
  }
}
