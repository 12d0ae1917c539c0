// Removes the undefined fields of an object.

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Removes undefined fields, which repositories do not accept. */
export const withoutAbsent = <T extends object>(fields: T): Present<T> =>
  // `Object.entries` loses the types of the keys; only undefined values are removed.
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Present<T>
