// Detects key presses that belong to an input method, as used for Chinese, Japanese and Korean.

/**
 * Whether the input method handles this key. Safari ends the composition before it reports the key, usually Enter, that
 * ended it, so only key code 229 identifies that key. Other browsers use the same code for keys of an input method.
 */
export const isComposing = (event: { isComposing: boolean; keyCode: number }): boolean =>
  event.isComposing || event.keyCode === 229
