/** Copying text of the page to the clipboard. */

/**
 * Copies the text of an element or the content of a field.
 *
 * @param {HTMLElement} source
 */
export async function copyFrom(source) {
  const isField = source instanceof HTMLInputElement;
  try {
    await navigator.clipboard.writeText(isField ? source.value : source.textContent);
  } catch {
    // Without permission, or without https, the old way still works.
    if (isField) {
      source.focus();
      source.select();
    } else getSelection()?.selectAllChildren(source);
    document.execCommand("copy");
  }
}
