// Joins class names and drops falsy ones.
/** For classes that depend on conditions: `isOpen && 'rotate-90'`. */
export const classNames = (...names: (string | false | null | undefined)[]): string =>
  names.filter((name) => typeof name === 'string' && name !== '').join(' ')
