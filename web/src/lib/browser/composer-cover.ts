// What covers the composer, such as the files of a project on a phone: others can uncover it when they write into it.

const covers: (() => void)[] = []

/** Registers something that covers the composer, and how it goes away. Returns the function that unregisters it. */
export function coverComposer(uncover: () => void): () => void {
  covers.push(uncover)
  return () => {
    const place = covers.indexOf(uncover)
    if (place >= 0) covers.splice(place, 1)
  }
}

/** Whether something covers the composer. */
export const isComposerCovered = (): boolean => covers.length > 0

/** Makes everything go away that covers the composer, which then has the focus. */
export function uncoverComposer(): void {
  for (const uncover of [...covers]) uncover()
  // Once it is gone: a dialog keeps the focus in itself.
  requestAnimationFrame(() => document.getElementById('composer')?.focus())
}
