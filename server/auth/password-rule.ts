// Which accounts may sign in with a password.

/** Whether an account may sign in with its password: all may, unless single sign-on (`oidc`) replaces passwords. */
export const passwordRule =
  (oidc: { password_login: boolean; break_glass?: string | undefined } | undefined) =>
  (username: string): boolean =>
    oidc?.password_login !== false || username.toLowerCase() === oidc.break_glass?.toLowerCase()
