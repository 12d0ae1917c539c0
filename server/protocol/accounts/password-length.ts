// How long a password is, for the server's schema and the page's fields.

/** Characters of a password. */
export const PASSWORD_LENGTH = { min: 8, max: 200 } as const
