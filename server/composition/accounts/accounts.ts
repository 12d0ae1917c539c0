// Creates the services of accounts: passwords, links, sessions, API keys, open connections and the audit log.
import type { Access } from '../../access/access.ts'
import type { ServerSettingsService } from '../../access/server-settings.ts'
import { type AccountLinks, createAccountLinks } from '../../auth/account-links.ts'
import { type Accounts, createAccounts } from '../../auth/accounts.ts'
import { type ApiKeys, createApiKeys } from '../../auth/api-keys.ts'
import { createAuditRecorder, type RecordAudit } from '../../auth/audit-recorder.ts'
import { createEmailLinks, type EmailLinks } from '../../auth/email-links.ts'
import { createKnownBrowsers, type KnownBrowsers } from '../../auth/known-browsers.ts'
import type { OidcSignIn } from '../../auth/oidc/sign-in.ts'
import { createPasswords, type PasswordCost, type Passwords } from '../../auth/passwords.ts'
import { createRefreshTokens } from '../../auth/refresh-token.ts'
import { createPasskeys, type Passkeys } from '../../auth/second-factor/passkeys.ts'
import { createSecondFactors, type SecondFactors } from '../../auth/second-factor/second-factors.ts'
import type { SecretBox } from '../../auth/secret-box.ts'
import { createSessions, type Sessions } from '../../auth/sessions.ts'
import { createSetupToken, type SetupToken } from '../../auth/setup-token.ts'
import { loadTokenKeys, type TokenKeys } from '../../auth/token-keys.ts'
import type { Config } from '../../config/schema.ts'
import type { Database, StoreLog } from '../../db/database.ts'
import type { Store } from '../../db/store.ts'
import { createOpenConnections, type OpenConnections } from '../../http/open-connections.ts'
import type { Limits } from '../../lib/limits.ts'
import type { WorkClaims } from '../../lib/work-claims.ts'
import { createMailer } from '../../messaging/mailer.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Channel } from '../../protocol/programs/channel.ts'
import { documentLanguage } from '../../sharing/document-texts.ts'
import { createConfiguredOidc } from './oidc.ts'

/** The services that the routes of accounts and administrators use. */
export interface AccountServices {
  accounts: Accounts
  apiKeys: ApiKeys
  passwords: Passwords
  links: AccountLinks
  setup: SetupToken
  sessions: Sessions
  knownBrowsers: KnownBrowsers
  connections: OpenConnections
  record: RecordAudit
  /** Null in single mode, where there are no tokens. */
  tokenKeys: TokenKeys | null
  secondFactors: SecondFactors
  passkeys: Passkeys
  emailLinks: EmailLinks
  /** Single sign-on; null when it is not configured. */
  oidc: OidcSignIn | null
}

interface AccountOptions {
  config: Config
  settings: Pick<ServerSettingsService, 'current'>
  access: Pick<Access, 'reload'>
  store: Store
  write: Database['write']
  box: SecretBox
  passwordCost: PasswordCost | undefined
  limits: Limits
  /** Only with several instances. */
  claims: WorkClaims | undefined
  /** Extends the open requests to those at all instances. */
  shareEndings(connections: OpenConnections): OpenConnections
  log: StoreLog
  now(): Date
}

/** Creates everything around accounts, in single mode too: its one user is an account without a password. */
export function createAccountServices(options: AccountOptions): AccountServices {
  const { config, settings, access, store, write, box, limits, log, now } = options
  const tokenKeys =
    config.auth_mode === 'single'
      ? null
      : loadTokenKeys(config.data_dir, config.jwt_secret ?? '', now)
  const apiKeys = createApiKeys(store.apiKeys)
  const passwords = createPasswords(options.passwordCost)
  const links = createAccountLinks(store, now)
  const isShared = options.claims !== undefined
  const setup = createSetupToken(isShared ? tokenKeys?.current().secret : undefined)
  const connections = options.shareEndings(createOpenConnections())
  const record = createAuditRecorder(store.audit, { log, now })
  const sessions = createConfiguredSessions(options, { tokenKeys, connections, record })
  const emailLinks = createConfiguredEmailLinks(options, links)
  const accounts = createAccounts({
    users: store.users,
    audit: store.audit,
    apiKeys,
    passwords,
    links,
    setup,
    onInvited: access.reload,
    onSessionUse: sessions.touch,
    registration: () => settings.current().effective.registration,
    firstAdministrator: config.first_administrator,
    allowsPassword: passwordRule(config),
    limits,
    registrationsPerHour: config.limits.registrations_per_hour,
  })
  const onGroupsChanged = access.reload
  const oidc = createConfiguredOidc({
    config,
    store,
    write,
    box,
    onGroupsChanged,
    endRequests: (userId) => connections.end(userId),
    log,
    now,
  })
  const factors = { factors: store.secondFactors, users: store.users, box, now }
  return {
    accounts,
    apiKeys,
    passwords,
    links,
    setup,
    sessions,
    knownBrowsers: createKnownBrowsers(secretsOf(tokenKeys)),
    connections,
    record,
    oidc,
    secondFactors: createSecondFactors({ ...factors, audit: store.audit, limits }),
    passkeys: createPasskeys(factors),
    emailLinks,
    tokenKeys,
  }
}

/** The secrets that sign what browsers keep, newest first; none in single mode, where nobody signs in. */
const secretsOf = (tokenKeys: TokenKeys | null) => (): readonly string[] =>
  tokenKeys?.accepted().map(({ secret }) => secret) ?? []

/** A session that ends closes its open requests; a refresh token that is used twice is recorded. */
const createConfiguredSessions = (
  { store, log, now }: AccountOptions,
  { tokenKeys, connections, record }: Pick<AccountServices, 'tokenKeys' | 'connections' | 'record'>,
): Sessions =>
  createSessions({
    sessions: store.sessions,
    refreshTokens: createRefreshTokens(secretsOf(tokenKeys)),
    closeRequests: (userId, only, kept) => connections.end(userId, { only, kept }),
    onReuse: ({ id }, { id: userId, username }, address) =>
      record({
        action: 'session_reused',
        userId,
        username,
        address,
        details: { session: id },
      }),
    onError: (error) => log.warn({ err: error }, 'could not record the use of a session'),
    now,
  })

/** Mails nothing unless both a mail server and the public address are configured. */
const createConfiguredEmailLinks = (
  { config, store, write, limits, log, now }: AccountOptions,
  links: AccountLinks,
): EmailLinks => {
  const { smtp, public_url: publicUrl } = config
  return createEmailLinks({
    links,
    addresses: store.confirmedAddresses,
    write,
    mail:
      smtp === undefined || publicUrl === undefined
        ? null
        : { publicUrl, send: createMailer(smtp) },
    allowsPassword: passwordRule(config),
    limits,
    log,
    now,
  })
}

/** Whether an account may sign in with its password: all may, unless single sign-on replaces passwords. */
export const passwordRule =
  ({ oidc }: Config) =>
  (username: string): boolean =>
    oidc?.password_login !== false || username.toLowerCase() === oidc.break_glass?.toLowerCase()

/** Mails links to the addresses of a new email channel whose owners have not agreed yet. */
export const confirmChannel =
  (emailLinks: EmailLinks) =>
  async (
    userId: UserId,
    { type, settings }: Pick<Channel, 'type' | 'settings'>,
    acceptLanguage: string | undefined,
  ): Promise<void> => {
    if (type !== 'email') return
    const language = documentLanguage(acceptLanguage) === 'zh-CN' ? 'zh-CN' : 'en'
    const addresses = String(settings.to).split(', ')
    for (const address of await emailLinks.unconfirmed(userId, addresses))
      await emailLinks.requestConfirmation(userId, address, language)
  }
