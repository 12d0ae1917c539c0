// Edited texts that were not saved, stored in memory, so that navigating within the page loses nothing.

/** An unsaved text, and what it was made from. */
export type UnsavedText<Base> = { base: Base; text: string }

type UnsavedTexts<Base> = {
  /** The unsaved text of this place; undefined if there is none. */
  read(place: string): UnsavedText<Base> | undefined
  /** Stores the unsaved text of a place; null removes it. */
  write(place: string, unsaved: UnsavedText<Base> | null): void
}

const everyKind: { readonly size: number; clear(): void }[] = []

/** Makes the browser ask before it closes the page. */
const warn = (event: BeforeUnloadEvent): void => event.preventDefault()

function warnWhileUnsaved(): void {
  if (everyKind.some(({ size }) => size > 0)) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
}

/** Creates the store for one kind of text. While any store has a text, the browser asks before it closes the page. */
export function createUnsavedTexts<Base>(): UnsavedTexts<Base> {
  const texts = new Map<string, UnsavedText<Base>>()
  everyKind.push(texts)
  return {
    read: (place) => texts.get(place),
    write(place, unsaved) {
      if (unsaved === null) texts.delete(place)
      else texts.set(place, unsaved)
      warnWhileUnsaved()
    },
  }
}

/** Forgets all unsaved texts: the next user of this page must not see them. */
export function forgetUnsavedTexts(): void {
  for (const texts of everyKind) texts.clear()
  warnWhileUnsaved()
}
