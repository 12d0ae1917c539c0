// The settings of single sign-on with OpenID Connect.

/** How people sign in at an OpenID Connect provider. */
export interface OidcSettings {
  issuer: string
  clientId: string
  /** Undefined for a public client, which only PKCE protects. */
  clientSecret: string | undefined
  /** The label of the button on the sign-in page. */
  name: string
  scopes: string
  /** Names of claims; dots lead into nested objects (`realm_access.roles`). */
  claims: { username: string; email: string; groups: string }
  /**
   * At every sign-in, members become administrators and others stop being administrators. Empty: roles are managed in this
   * server.
   */
  adminGroups: readonly string[]
  /** Only members may sign in. Empty: everybody whom the issuer signs in. */
  allowedGroups: readonly string[]
  /** Maps the issuer's name of a group to the group here whose members follow it at every sign-in. */
  groups: ReadonlyMap<string, string>
  /** Whether to create an account at the first sign-in. */
  autoCreate: boolean
  /** Whether a first sign-in takes over the account with the same email address, if the issuer has verified it. */
  linkByEmail: boolean
  /** The account for the day when the issuer does not work, which nobody takes over by its address; undefined: none. */
  breakGlass: string | undefined
}
