// Accounts: registration, sign-in and profile.
import type { Reader } from '../db/database.ts'
import type { ApiKeyRow } from '../db/repositories/accounts/api-keys.ts'
import type {
  AccountChanges,
  Admission,
  SessionRow,
  UserRepository,
  UserRow,
} from '../db/repositories/accounts/users.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { Attempt, AttemptCounts, Limits } from '../lib/limits.ts'
import { hashLinkToken } from '../lib/link-token.ts'
import type { Actor, AuditDetails } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import type { AccountLinks } from './account-links.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Identity } from './identity.ts'
import type { KnownBrowser } from './known-browsers.ts'
import { networkOf } from './network.ts'
import { assertUncommonPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import type { SetupToken } from './setup-token.ts'
import type { TokenClaims } from './tokens.ts'

// Slows down password guessing without locking out the owner of an account.

/** Counts failed sign-ins within a window, by source and by account; see `AttemptCounts`. */
interface LoginGuard {
  /**
   * Compares a password. If the comparison rejects (server busy, no database), the attempt does not count.
   * @param source where the attempt comes from: a network, or a known browser.
   * @throws AppError 429 with `Retry-After` if this source has to wait.
   */
  compare<T extends { matches: boolean }>(
    source: string,
    account: string,
    comparison: () => Promise<T>,
  ): Promise<T>
}

/** Identifies accounts regardless of case. */
export function createLoginGuard(attempts: AttemptCounts): LoginGuard {
  async function begin(source: string, account: string): Promise<Attempt> {
    const attempt = await attempts.begin(source, account.toLowerCase())
    if ('retryAfterSeconds' in attempt)
      throw appError('sign_ins_exhausted', {}, { retryAfter: attempt.retryAfterSeconds })
    return attempt
  }
  return {
    async compare(source, account, comparison) {
      const attempt = await begin(source, account)
      try {
        const outcome = await comparison()
        if (outcome.matches) attempt.succeeded()
        else attempt.failed()
        return outcome
      } finally {
        // Has no effect after an outcome.
        attempt.withdraw()
      }
    },
  }
}

// Finds the owner of a token or an API key, as long as it is valid.

/** An API key and its owner. */
interface KeyOwner {
  user: Identity
  key: ApiKeyRow
}

/** Identifies the user of a request. */
interface Credentials {
  /**
   * The user of a token, or null if its session has ended or the account is disabled.
   * @param isUse whether the session counts as used; default true.
   */
  ofSession(claims: TokenClaims, isUse?: boolean): Promise<Identity | null>
  /** The user of an API key, or null. */
  ofApiKey(key: string): Promise<KeyOwner | null>
}

/** The dependencies of the credential check. */
interface CredentialsDependencies {
  users: Pick<UserRepository, 'findForSession'>
  apiKeys: Pick<ApiKeys, 'find'>
  /** Called for each request of a session. */
  onSessionUse(session: SessionRow): void
  now(): Date
}

/** The part of an account that a request carries. */
const identityOf = ({ id, username, role, tokenVersion }: UserRow): Identity => ({
  id,
  username,
  role,
  tokenVersion,
})

/** Checks at every request, so that an ended session or a disabled account is refused at once. */
function createCredentials({
  users,
  apiKeys,
  onSessionUse,
  now,
}: CredentialsDependencies): Credentials {
  return {
    async ofSession(claims, isUse = true) {
      const found = await users.findForSession(claims.sub, claims.jti, claims.sid ?? '')
      // Says so to the person who was signed in.
      if (found?.user.isActive === false && isUse) throw appError('account_disabled')
      if (found?.user.isActive !== true) return null
      const { user, session } = found
      if (claims.sid !== undefined) {
        if (session === null || session.expiresAt <= now()) return null
        if (isUse) onSessionUse(session)
      }
      const isValid = user.tokenVersion === claims.version || user.keptToken === claims.jti
      return isValid ? identityOf(user) : null
    },

    async ofApiKey(text) {
      const found = await apiKeys.find(text)
      return found?.user.isActive === true ? { user: identityOf(found.user), key: found.key } : null
    },
  }
}

/** The user in single-user mode. */
export const DEFAULT_USERNAME = 'default'

/** Registering, signing in, and changing an account. What changes one leaves its audit entry. */
export interface Accounts extends Credentials {
  /** Whether any account exists. */
  exist(): Promise<boolean>
  /**
   * Whether this client may create the first account, which becomes the administrator's: with the setup link or, if
   * permitted, from this machine.
   */
  mayBeFirst(client: Pick<Client, 'isLocal'>): boolean
  /**
   * Creates an account; the first one becomes the administrator.
   * @param account.link the token of an invitation or of the setup link.
   * @throws AppError `setup_link_required`, `registration_closed`, `invitation_required`, `account_link_invalid`,
   * `password_common`, `user_name_taken`, `registrations_exhausted`, `password_sign_in_off`.
   */
  register(
    account: {
      username: string
      password: string
      email?: string | undefined
      link?: string | undefined
    },
    client: Client,
  ): Promise<UserRow>
  /**
   * Sets a new password with the token of a reset link, revokes all tokens of the account, and adds the audit entry.
   * @param address the client's address, for that entry.
   * @throws AppError `account_link_invalid`, `password_common`.
   */
  resetPassword(
    token: string,
    change: { password: string; revokeKeys?: boolean | undefined },
    address: string,
  ): Promise<UserRow>
  /**
   * Guesses are limited by source and by account. A browser in which the account was used before is a source of its own, with
   * a count of its own, so that neither others behind its address nor guesses from elsewhere keep the owner out.
   * @throws AppError `wrong_credentials`, `too_many_requests`.
   */
  login(
    credentials: { username: string; password: string },
    browser: Pick<KnownBrowser, 'source' | 'sourceFor'>,
  ): Promise<UserRow>
  /** @throws AppError `current_password_wrong`, `too_many_requests`. */
  assertPassword(id: UserId, password: string): Promise<UserRow>
  /** Checks for sign-ins without the password. @throws AppError `account_disabled`, `password_sign_in_off`. */
  assertMaySignIn(user: UserRow): void
  /** The account with this name; undefined if there is none. */
  namedAs(username: string): Promise<Pick<UserRow, 'id' | 'username'> | undefined>
  /** @throws AppError `not_found`. */
  profile(id: UserId): Promise<UserRow>
  /**
   * A new password requires the current one and revokes all other tokens. API keys remain valid unless `revokeKeys` is set.
   * Returns the number of API keys after the change. @throws AppError `forbidden`, `name_taken`, `too_many_requests`.
   */
  changeProfile(
    id: UserId,
    changes: ProfileChanges,
    actor: Actor,
  ): Promise<{ user: UserRow; apiKeys: number }>
  /** Signs out with a token of an earlier version, which has no session. */
  revokeToken(claims: TokenClaims, actor: Actor): Promise<void>
  /** Ends all sessions of a user, except the one of `kept`. */
  endSessions(id: UserId, kept: TokenClaims | undefined, actor: Actor): Promise<void>
  /** The user in single-user mode, created on the first call. */
  defaultUser(): Promise<Identity>
}

/** The origin of a request. */
export interface Client {
  /** For rate limits. */
  address: string
  /** Whether it comes from this machine and through no proxy. */
  isLocal: boolean
}

/** Changes of a profile. Undefined fields stay unchanged. */
export interface ProfileChanges {
  email?: string | null | undefined
  avatar?: string | null | undefined
  password?: string | undefined
  currentPassword?: string | undefined
  /**
   * Whether a change of the address requires the password, if there is one: password reset links are sent to that address.
   */
  emailNeedsPassword: boolean
  /** The token of this request, which remains valid after a password change. */
  kept?: TokenClaims | undefined
  /** Revokes every API key together with the old password. */
  revokeKeys?: boolean | undefined
}

/** The dependencies of accounts. */
export interface AccountsDependencies {
  store: Pick<Store, 'users' | 'audit'>
  apiKeys: ApiKeys
  passwords: Passwords
  links: AccountLinks
  setup: SetupToken
  /** Called when an invitation may have set limits for a new account. */
  onInvited(): Promise<void>
  /** Records that a session was used. */
  onSessionUse(session: SessionRow): void
  /** Read at each registration, because administrators can change it. */
  registration(): 'open' | 'invite' | 'closed'
  /** `local`: clients on this machine may create the first account without the setup link. */
  firstAdministrator: 'local' | 'link'
  /** Whether this account may sign in with a password. */
  allowsPassword(username: string): boolean
  /** Maximum number of registrations per address and hour. */
  registrationsPerHour: number
  limits: Limits
  now?: () => Date
}

const HOUR_MS = 60 * 60_000

/** Decides who may register and sign in. Links, passwords and limits are dependencies. */
export function createAccounts(dependencies: AccountsDependencies): Accounts {
  const guard = createLoginGuard(dependencies.limits.attempts)
  return {
    ...createCredentials({
      now: () => new Date(),
      users: dependencies.store.users,
      ...dependencies,
    }),
    ...newAccounts(dependencies),
    ...signIns(dependencies, guard),
    ...profiles(dependencies, guard),
  }
}

/** Registrations. */
function newAccounts({
  store: { users, audit },
  passwords,
  links,
  setup,
  onInvited,
  registration,
  firstAdministrator,
  allowsPassword,
  registrationsPerHour,
  limits,
  now = () => new Date(),
}: AccountsDependencies): Pick<Accounts, 'exist' | 'mayBeFirst' | 'register' | 'defaultUser'> {
  const registrations = limits.rateLimit('registrations', {
    limit: registrationsPerHour,
    windowMs: HOUR_MS,
  })
  const mayBeFirst = ({ isLocal }: Pick<Client, 'isLocal'>): boolean =>
    isLocal && firstAdministrator === 'local'

  /** @param from the transaction that creates the account, or a read connection to check before hashing. */
  async function admit(
    from: Reader,
    { count, link, isLocal }: { count: number; link: string | undefined; isLocal: boolean },
  ): Promise<Admission> {
    if (count === 0) {
      if (mayBeFirst({ isLocal }) || (link !== undefined && setup.matches(link)))
        return { role: 'admin' }
      throw appError('setup_link_required')
    }
    if (registration() === 'closed') throw appError('registration_closed')
    if (link !== undefined) return links.admission(from, link)
    if (registration() === 'invite') throw appError('invitation_required')
    return { role: 'user' }
  }

  return {
    exist: async () => (await users.count()) > 0,

    mayBeFirst,

    async register({ username, password, email, link }, { address, isLocal }) {
      if (!allowsPassword(username)) throw appError('password_sign_in_off')
      // Checked before hashing, too, so that a refused registration costs nothing.
      await admit(users.reader, { count: await users.count(), link, isLocal })
      assertUncommonPassword(password, [username, email])
      // A link works once, so those who have one are not counted with everybody else behind their address.
      const retryAfter = await registrations.acquire(
        link === undefined ? networkOf(address) : `link ${hashLinkToken(link)}`,
      )
      if (retryAfter !== null) throw appError('registrations_exhausted', {}, { retryAfter })
      const passwordHash = await passwords.hash(password, networkOf(address))
      const account = { username, passwordHash, email: email ?? null }
      const user = await users.register(account, async (tx, count) => {
        const { role, onCreated } = await admit(tx, { count, link, isLocal })
        return {
          role,
          async onCreated(inserting, id) {
            await onCreated?.(inserting, id)
            const actor = { userId: id, username, address, details: {} }
            await audit.record(inserting, actor, {
              action: 'register',
              at: now(),
              details: { role },
            })
          },
        }
      })
      if (link !== undefined) await onInvited()
      return user
    },

    defaultUser: async () => identityOf(await users.ensureDefault(DEFAULT_USERNAME)),
  }
}

/** Sign-ins with a password, their end, and the links for a new password. */
function signIns(
  {
    store: { users, audit },
    passwords,
    links,
    allowsPassword,
    now = () => new Date(),
  }: AccountsDependencies,
  guard: LoginGuard,
): Pick<
  Accounts,
  'assertMaySignIn' | 'resetPassword' | 'login' | 'namedAs' | 'revokeToken' | 'endSessions'
> {
  function assertMaySignIn({
    username,
    isActive,
  }: Parameters<Accounts['assertMaySignIn']>[0]): void {
    if (!isActive) throw appError('account_disabled')
    if (!allowsPassword(username)) throw appError('password_sign_in_off')
  }

  return {
    assertMaySignIn,

    async resetPassword(token, { password, revokeKeys = false }, address) {
      const { userId } = await links.reset(users.reader, token)
      const account = (await users.find(userId)) ?? throwMissing()
      assertMaySignIn(account)
      assertUncommonPassword(password, [account.username, account.email])
      const passwordHash = await passwords.hash(password, userId)
      const changed = await users.update(
        userId,
        { passwordHash, keptToken: null, revokeKeys },
        {
          before: async (tx) => (await links.reset(tx, token)).use(tx),
          after: (tx, { username }) =>
            audit.record(
              tx,
              { userId, username, address, details: {} },
              { action: 'password_reset', at: now(), details: { revoke_keys: revokeKeys } },
            ),
        },
      )
      return changed ?? throwMissing()
    },

    async login({ username, password }, browser) {
      if (!allowsPassword(username)) throw appError('password_sign_in_off')
      const user = await users.findByName(username)
      const source = browser.sourceFor(user)
      const account =
        source === browser.sourceFor(undefined) ? username : `${username} in ${source}`
      const { matches } = await guard.compare(source, account, async () => {
        const isRight = await passwords.verify(user?.passwordHash ?? null, password, source)
        return { matches: isRight }
      })
      if (user === undefined || !matches) throw appError('wrong_credentials')
      // Only who knows the password learns it.
      if (!user.isActive) throw appError('account_disabled')
      return user
    },

    namedAs: (username) => users.findByName(username),

    revokeToken: ({ jti, exp }, actor) =>
      users.revokeToken(jti, new Date(exp * 1000), (tx) =>
        audit.record(tx, actor, { action: 'sign_out', at: now(), details: {} }),
      ),

    async endSessions(id, kept, actor) {
      const changes = {
        endSessions: true,
        keptToken: kept?.jti ?? null,
        keptSession: kept?.sid,
      }
      await users.update(id, changes, {
        after: (tx) =>
          audit.record(tx, actor, { action: 'sessions_ended', at: now(), details: {} }),
      })
    },
  }
}

/** What users read and change about their account. */
function profiles(
  { store: { users, audit }, apiKeys, passwords, now = () => new Date() }: AccountsDependencies,
  guard: LoginGuard,
): Pick<Accounts, 'assertPassword' | 'profile' | 'changeProfile'> {
  async function assertPassword(id: UserId, password: string): Promise<UserRow> {
    const user = (await users.find(id)) ?? throwMissing()
    const guardKey = `profile of ${id}`
    const { matches } = await guard.compare(guardKey, guardKey, async () => ({
      matches: await passwords.verify(user.passwordHash, password, id),
    }))
    // Not 401: the session is valid; only the given password is wrong.
    if (!matches) throw appError('current_password_wrong')
    return user
  }

  return {
    assertPassword,

    profile: async (id) => (await users.find(id)) ?? throwMissing(),

    async changeProfile(id, changed, actor) {
      const { password, currentPassword, kept, revokeKeys, email, avatar } = changed
      if (email !== undefined && password === undefined && changed.emailNeedsPassword) {
        const account = (await users.find(id)) ?? throwMissing()
        if (account.passwordHash !== null && email !== account.email) {
          if (currentPassword === undefined) throw appError('email_needs_password')
          await assertPassword(id, currentPassword)
        }
      }
      const changes: AccountChanges = {
        ...(email === undefined ? {} : { email }),
        ...(avatar === undefined ? {} : { avatar }),
      }
      if (password !== undefined) {
        if (currentPassword === undefined) throw appError('current_password_missing')
        const user = await assertPassword(id, currentPassword)
        assertUncommonPassword(password, [user.username, user.email])
        changes.passwordHash = await passwords.hash(password, id)
        changes.keptToken = kept?.jti ?? null
        changes.keptSession = kept?.sid
        changes.expectedPasswordHash = user.passwordHash
        changes.revokeKeys = revokeKeys ?? false
      }
      const details: AuditDetails = {
        ...(email === undefined ? {} : { email }),
        ...(avatar === undefined ? {} : { avatar_changed: true }),
        ...(password === undefined
          ? {}
          : { password_changed: true, revoke_keys: revokeKeys ?? false }),
      }
      const user =
        (await users.update(id, changes, {
          after: (tx) => audit.record(tx, actor, { action: 'account_changed', at: now(), details }),
        })) ?? throwMissing()
      return { user, apiKeys: (await apiKeys.list(id)).length }
    },
  }
}

function throwMissing(): never {
  throw appError('account_gone')
}
