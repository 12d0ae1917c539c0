// The writing direction of a language and of the page.

/** Languages that are written from right to left. The page has none of them yet. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'ur', 'yi'])

/** The writing direction of a language, given its tag, such as "ar" or "de-AT". */
export const directionOf = (tag: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(tag.toLowerCase().split('-')[0] ?? '') ? 'rtl' : 'ltr'

/** The writing direction of the page, for code that measures horizontally and for controls with left and right keys. */
export const shownDirection = (): 'ltr' | 'rtl' =>
  document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'
