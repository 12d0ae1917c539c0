// Whether a key belongs to an input method, with which Chinese, Japanese and Korean are written.

/**
 * Safari ends the composition before it reports the key that ended it: only the code tells that the key, mostly Enter, chose
 * a word. Other browsers use the same code for keys that an input method has taken.
 */
export const isComposing = (event: { isComposing: boolean; keyCode: number }): boolean =>
  event.isComposing || event.keyCode === 229
