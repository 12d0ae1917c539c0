// Single sign-on: finds or creates the account for a person at an issuer.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Database, Reader } from '../../db/database.ts'
import type { NewIdentity } from '../../db/repositories/accounts/identities.ts'
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import type { Store } from '../../db/store.ts'
import { AppError, appError, errorText } from '../../errors.ts'
import { createAddressRules } from '../../net/addresses.ts'
import { createGuardedFetch } from '../../net/guarded-fetch.ts'
import type { Actor } from '../../protocol/admin/audit.ts'
import type { GroupId } from '../../protocol/admin/group.ts'
import type { UserId } from '../../protocol/ids.ts'
import { NO_PASSWORD } from '../reset-rule.ts'
import { openIfReadable, type SecretBox } from '../secret-box.ts'
import { isIncomplete, needsGroups, type Person, readPerson } from './claims.ts'
import { createIssuer, type SignedInAtIssuer } from './issuer.ts'
import { createIssuerFetch } from './issuer-fetch.ts'
import type { OidcSettings } from './settings.ts'

/** How the audit log names this way in. */
const BY = 'single sign-on'

/** Signing in at a provider: the authorization code flow with PKCE. Each change of an account leaves its audit entry. */
export interface OidcSignIn {
  readonly name: string
  /** Begins discovery; returns at once. */
  prepare(): void
  /**
   * @param returnTo the path of the page to show afterwards.
   * @returns the address of the issuer, and what the browser must keep until it returns.
   * @throws AppError `oidc_unreachable`.
   */
  start(returnTo: string): Promise<{ url: string; kept: string }>
  /**
   * @param query of the request with which the issuer sent the browser back.
   * @param address the client's address, for the audit log.
   * @throws AppError `oidc_sign_in_unknown` for a sign-in that this browser did not begin, `oidc_unreachable`,
   * `oidc_refused`, `oidc_response_invalid`, `oidc_groups_withheld`, `oidc_not_allowed`, `oidc_no_account`,
   * `account_disabled`, `setup_link_required`.
   */
  finish(
    query: string,
    kept: string | undefined,
    address: string,
  ): Promise<{ user: UserRow; idToken: string; returnTo: string }>
  /** Stores the ID token with which a session began. */
  began(sessionId: string, idToken: string): Promise<void>
  /** Where the browser ends the session at the issuer, too; null for a session that did not begin there. */
  logoutUrl(sessionId: string): Promise<string | null>
  close(): void
}

/** The dependencies of the single sign-on. */
export interface OidcSignInDependencies {
  settings: OidcSettings
  database: Pick<Database, 'write'>
  store: Pick<Store, 'users' | 'audit' | 'identities' | 'groups' | 'confirmedAddresses'>
  /**
   * Called after an account's groups have changed, because its permissions and the projects that it reaches depend on them.
   * Resolves when what it has lost has ended.
   */
  onGroupsChanged(userId: UserId, groups: { added: GroupId[]; removed: GroupId[] }): Promise<void>
  /** The open requests of users, at all instances: those of an account end with its other ways in. */
  connections: { end(userId: UserId): void }
  box: SecretBox
  publicUrl: string
  log: { warn(details: object, message: string): void }
  now(): Date
}

export const CALLBACK_PATH = '/api/auth/oidc/callback'
/** Maximum duration of a sign-in at the issuer. */
export const ATTEMPT_LIFETIME_SECONDS = 600
const SEAL_PURPOSE = 'oidc attempt'
const MAX_NAME_ATTEMPTS = 50

/** The purpose for which a session's ID token is sealed. */
export const idTokenPurpose = (sessionId: string): string => `id token of ${sessionId}`

const Kept = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  until: z.number(),
})

/**
 * Nothing is requested from the issuer before the first sign-in. State between redirects is sealed
 * with `box`.
 */
export function createOidcSignIn(dependencies: OidcSignInDependencies): OidcSignIn {
  const { settings, store, box, publicUrl, log, now } = dependencies
  const { identities } = store
  const guarded = createGuardedFetch({
    rules: createAddressRules({ allowPrivate: [], allowPorts: [443] }),
  })
  const issuer = createIssuer({ settings, fetch: createIssuerFetch(guarded), log, now })
  const base = publicUrl.replace(/\/+$/, '')

  return {
    name: settings.name,
    prepare: () => issuer.prepare(),

    async start(returnTo) {
      const { url, attempt } = await issuer.begin(`${base}${CALLBACK_PATH}`)
      const until = now().getTime() + ATTEMPT_LIFETIME_SECONDS * 1000
      return { url, kept: box.seal(JSON.stringify({ ...attempt, returnTo, until }), SEAL_PURPOSE) }
    },

    async finish(query, kept, address) {
      const { returnTo, ...attempt } = readKept(dependencies, kept)
      // From the public URL: behind a proxy, the request's own address is not the one that the issuer knows.
      const callback = new URL(`${base}${CALLBACK_PATH}${query}`)
      if (callback.searchParams.get('state') !== attempt.state)
        throw appError('oidc_sign_in_unknown')
      const signedIn = await issuer.finish(callback, attempt, (claims) =>
        isIncomplete(claims, settings),
      )
      const person = readPerson(signedIn.claims, settings)
      const role = roleOf(dependencies, person)
      const found = await accountOf(dependencies, signedIn, person, role, address)
      if (!found.isActive) throw appError('account_disabled')
      const user = await follow(dependencies, found, role, address)
      await join(dependencies, user, person, address)
      if (person.email !== null) await confirmAddress(user.id, person.email, dependencies)
      return { user, idToken: signedIn.idToken, returnTo }
    },

    began: (sessionId, idToken) =>
      identities.saveIdToken(sessionId, box.seal(idToken, idTokenPurpose(sessionId))),

    async logoutUrl(sessionId) {
      const sealed = await identities.findIdToken(sessionId)
      if (sealed === undefined) return null
      const idToken = openIfReadable(box, sealed, idTokenPurpose(sessionId))
      return idToken === null ? null : issuer.logoutUrl(idToken, `${base}/`)
    },

    close() {
      issuer.close()
      void guarded.close()
    },
  }
}

function readKept(
  { box, now, log }: OidcSignInDependencies,
  kept: string | undefined,
): z.output<typeof Kept> {
  try {
    const read = Kept.parse(JSON.parse(box.open(kept ?? '', SEAL_PURPOSE)))
    if (read.until > now().getTime()) return read
  } catch (error) {
    if (kept !== undefined)
      log.warn({ cause: errorText(error) }, 'a sign-in cookie could not be read')
  }
  throw appError('oidc_sign_in_unknown')
}

/** The role that the groups require; undefined if roles are managed in this server. */
function roleOf(
  { settings, log }: OidcSignInDependencies,
  { groups: found }: Person,
): UserRow['role'] | undefined {
  const { adminGroups, allowedGroups } = settings
  if (found === 'withheld') {
    if (!needsGroups(settings)) return undefined
    log.warn(
      { issuer: settings.issuer },
      'the issuer omitted the groups of a person because there are too many; use app roles, or configure it to send fewer groups',
    )
    throw appError('oidc_groups_withheld')
  }
  const isIn = (wanted: readonly string[]) => wanted.some((group) => found.includes(group))
  const isAdmin = isIn(adminGroups)
  if (allowedGroups.length > 0 && !isIn(allowedGroups) && !isAdmin)
    throw appError('oidc_not_allowed')
  if (adminGroups.length === 0) return undefined
  return isAdmin ? 'admin' : 'user'
}

/** Stores that the address belongs to the user. */
async function confirmAddress(
  userId: UserId,
  address: string,
  { database, store: { confirmedAddresses: addresses }, now }: OidcSignInDependencies,
): Promise<void> {
  if ((await addresses.unconfirmed(userId, [address])).length > 0)
    await database.write((tx) => addresses.add(tx, userId, address, now()))
}

/**
 * The account whose owner confirmed the person's verified address here. An address that an account merely names proves
 * nothing: anybody can register with a colleague's.
 */
async function linkable(
  { settings, store: { confirmedAddresses: addresses } }: OidcSignInDependencies,
  { email }: Person,
  from?: Reader,
): Promise<UserRow | undefined> {
  if (!settings.linkByEmail || email === null) return undefined
  const owner = await addresses.findAccount(email, from)
  // Not the account for the day when the issuer does not work.
  const isLinkable = owner?.username.toLowerCase() !== settings.breakGlass?.toLowerCase()
  return isLinkable ? owner : undefined
}

/**
 * Links the account and ends every other way in: its password, sessions, API keys, second factors and open links may be
 * somebody else's, who has made the owner of the address confirm it.
 */
async function link(
  dependencies: OidcSignInDependencies,
  owner: UserRow,
  person: Person,
  { identity, address }: { identity: NewIdentity; address: string },
): Promise<UserRow> {
  const { store, now, connections } = dependencies
  const { users, identities, audit } = store
  const ended = { passwordHash: NO_PASSWORD, revokeKeys: true, keptToken: null }
  const linked = await users.update(owner.id, ended, {
    async before(tx) {
      if ((await linkable(dependencies, person, tx))?.id !== owner.id)
        throw appError('oidc_sign_in_unknown')
      await identities.replaceAll(tx, identity, now())
    },
    after: (tx, user) =>
      audit.record(tx, actorOf(user, address), {
        action: 'identity_linked',
        at: now(),
        details: { issuer: identity.issuer },
      }),
  })
  if (linked === undefined) throw appError('oidc_sign_in_unknown')
  connections.end(owner.id)
  return linked
}

async function create(
  { store: { users, identities, audit }, now }: OidcSignInDependencies,
  { issuer: iss, subject }: SignedInAtIssuer,
  person: Person,
  role: UserRow['role'],
  address: string,
): Promise<UserRow> {
  let email = person.email
  for (let attempt = 1; attempt <= MAX_NAME_ATTEMPTS; attempt += 1) {
    const suffix = createHash('sha256').update(`${iss} ${subject}`).digest('hex').slice(0, 8)
    const username =
      attempt === 1
        ? person.username
        : attempt < MAX_NAME_ATTEMPTS
          ? `${person.username}-${attempt}`
          : `${person.username}-${suffix}`
    try {
      return await users.register(
        { username, passwordHash: NO_PASSWORD, email },
        async (_tx, count) => {
          // Being first does not make anybody an administrator here: the issuer's groups or the setup link do.
          if (count === 0 && role !== 'admin') throw appError('setup_link_required')
          return {
            role,
            async onCreated(tx, userId) {
              await identities.add(tx, { issuer: iss, subject, userId }, now())
              await audit.record(tx, actorOf({ id: userId, username }, address), {
                action: 'register',
                at: now(),
                details: { issuer: iss, role },
              })
            },
          }
        },
      )
    } catch (error) {
      if (!(error instanceof AppError && error.reason === 'user_name_taken')) throw error
      // The address belongs to an account that may not be taken over.
      if (email !== null && (await users.findByEmail(email)) !== undefined) email = null
    }
  }
  throw appError('user_name_taken')
}

async function accountOf(
  dependencies: OidcSignInDependencies,
  signedIn: SignedInAtIssuer,
  person: Person,
  role: UserRow['role'] | undefined,
  address: string,
): Promise<UserRow> {
  const { store, settings } = dependencies
  const { issuer: iss, subject } = signedIn
  const known = await store.identities.find(iss, subject)
  if (known !== undefined) return known
  const owner = await linkable(dependencies, person)
  if (owner !== undefined) {
    const identity = { issuer: iss, subject, userId: owner.id }
    return link(dependencies, owner, person, { identity, address })
  }
  if (!settings.autoCreate) throw appError('oidc_no_account')
  return create(dependencies, signedIn, person, role ?? 'user', address)
}

/** Gives the account the role that the groups require. The last administrator remains one. */
async function follow(
  { store: { users, audit }, log, now }: OidcSignInDependencies,
  user: UserRow,
  role: UserRow['role'] | undefined,
  address: string,
): Promise<UserRow> {
  if (role === undefined || role === user.role) return user
  try {
    const changed = await users.update(
      user.id,
      { role },
      {
        after: (tx) =>
          audit.record(tx, actorOf(user, address), {
            action: 'account_changed',
            at: now(),
            details: { role },
          }),
      },
    )
    return changed ?? user
  } catch (error) {
    if (!(error instanceof AppError && error.reason === 'last_administrator')) throw error
    log.warn({ user: user.id }, 'the last administrator keeps the role that the issuer withdrew')
    return user
  }
}

/** Adds the account to the groups that follow the issuer's, and removes it from the other ones of these. */
async function join(
  { settings, store: { groups, audit }, log, now, onGroupsChanged }: OidcSignInDependencies,
  user: UserRow,
  { groups: found }: Person,
  address: string,
): Promise<void> {
  if (settings.groups.size === 0) return
  const wanted = [...settings.groups].filter(([group]) => found.includes(group))
  const { added, removed, unknown } = await groups.follow(
    user.id,
    {
      managed: [...new Set(settings.groups.values())],
      wanted: wanted.map(([, name]) => name),
    },
    (tx, action, group) =>
      audit.record(tx, actorOf(user, address), { action, at: now(), details: { group } }),
  )
  if (unknown.length > 0)
    log.warn({ groups: unknown }, 'groups of oidc.groups do not exist here; create them')
  if (added.length + removed.length === 0) return
  // Before the session begins, so that it never has more rights than its groups allow.
  await onGroupsChanged(user.id, { added, removed })
}

const actorOf = (
  { id: userId, username }: Pick<UserRow, 'id' | 'username'>,
  address: string,
): Actor => ({ userId, username, address, details: { by: BY } })
