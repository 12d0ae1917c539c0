// Joins class names and drops falsy ones.
/** Joins class names with spaces. Falsy names are dropped, so that a class can depend on a condition: `isOpen && 'rotate-90'`. */
export const classNames = (...names: (string | false | null | undefined)[]): string =>
  names.filter((name) => typeof name === 'string' && name !== '').join(' ')
