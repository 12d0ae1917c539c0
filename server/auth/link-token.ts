// Where the page reads the token of a link to an account.

/** The page's path that reads the token. Browsers never send the fragment, so the token appears in no log. */
export const linkPath = (token: string): string => `/join#${token}`
