// What is configured about single sign-on with OpenID Connect.

/** How people sign in at an OpenID Connect provider. */
export interface OidcSettings {
  issuer: string
  clientId: string
  /** Undefined: a public client, protected by PKCE alone. */
  clientSecret: string | undefined
  /** For the button of the sign-in page. */
  name: string
  scopes: string
  /** Names of claims; dots lead into nested objects (`realm_access.roles`). */
  claims: { username: string; email: string; groups: string }
  /** Members are administrators, everybody else is not, at every sign-in. Empty: roles are managed here. */
  adminGroups: readonly string[]
  /** Only members may sign in. Empty: everybody whom the issuer lets in. */
  allowedGroups: readonly string[]
  /** By the issuer's name of a group, the name of a group here whose members follow it at every sign-in. */
  groups: ReadonlyMap<string, string>
  /** Creates an account at the first sign-in. */
  autoCreate: boolean
  /** Whether a first sign-in takes over the account with the same email address, if the issuer has verified it. */
  linkByEmail: boolean
}
