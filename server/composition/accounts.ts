// Creates the services of accounts: passwords, links, sessions, API keys, open connections and the audit log.
import { createAccountLinks } from '../auth/account-links.ts'
import { createAccounts } from '../auth/accounts.ts'
import { createApiKeys } from '../auth/api-keys.ts'
import { createAuditRecorder } from '../auth/audit-recorder.ts'
import { createEmailLinks } from '../auth/email-links.ts'
import { createKnownBrowsers } from '../auth/known-browsers.ts'
import { passwordRule } from '../auth/password-rule.ts'
import { createPasswords, type PasswordCost } from '../auth/passwords.ts'
import { createRefreshTokens } from '../auth/refresh-token.ts'
import { createPasskeys } from '../auth/second-factor/passkeys.ts'
import { createSecondFactors } from '../auth/second-factor/second-factors.ts'
import { createSessions } from '../auth/sessions.ts'
import { createSetupToken } from '../auth/setup-token.ts'
import { loadTokenKeys, secretsOf } from '../auth/token-keys.ts'
import { createOpenConnections } from '../http/open-connections.ts'
import { createMailer } from '../messaging/mailer.ts'
import type { Base } from './base.ts'

/**
 * Creates everything around accounts, in single mode too: its one user is an account without a password. The keys of session
 * tokens are null there.
 */
export function createAccountServices(base: Base, passwordCost: PasswordCost | undefined) {
  const { config, settings, access, database, store, instance, box, limits, log, now } = base
  const tokenKeys =
    config.auth_mode === 'single'
      ? null
      : loadTokenKeys(config.data_dir, config.jwt_secret ?? '', now)
  const apiKeys = createApiKeys(store)
  const passwords = createPasswords(passwordCost)
  const links = createAccountLinks(store, now)
  const allowsPassword = passwordRule(config.oidc)
  const isShared = base.claims !== undefined
  const setup = createSetupToken(isShared ? tokenKeys?.current().secret : undefined)
  const connections = instance.shareEndings(createOpenConnections())
  const record = createAuditRecorder(store.audit, { log, now })
  const secrets = secretsOf(tokenKeys)
  const sessions = createSessions({
    sessions: store.sessions,
    audit: store.audit,
    refreshTokens: createRefreshTokens(secrets),
    closeRequests: (userId, only, kept) => connections.end(userId, { only, kept }),
    onError: (error) => log.warn({ err: error }, 'could not record the use of a session'),
    now,
  })
  const { smtp, public_url: publicUrl } = config
  const emailLinks = createEmailLinks({
    links,
    addresses: store.confirmedAddresses,
    write: database.write,
    // Links lead to the public address.
    mail: smtp && publicUrl ? { publicUrl, send: createMailer(smtp) } : null,
    allowsPassword,
    limits,
    log,
    now,
  })
  const accounts = createAccounts({
    store,
    apiKeys,
    passwords,
    links,
    setup,
    onInvited: access.reload,
    onSessionUse: sessions.touch,
    registration: () => settings.current().effective.registration,
    firstAdministrator: config.first_administrator,
    allowsPassword,
    limits,
    registrationsPerHour: config.limits.registrations_per_hour,
  })
  const factors = { factors: store.secondFactors, audit: store.audit, users: store.users, box, now }
  return {
    accounts,
    apiKeys,
    passwords,
    allowsPassword,
    links,
    setup,
    sessions,
    knownBrowsers: createKnownBrowsers(secrets),
    connections,
    record,
    secondFactors: createSecondFactors({ ...factors, limits }),
    passkeys: createPasskeys(factors),
    emailLinks,
    tokenKeys,
  }
}
