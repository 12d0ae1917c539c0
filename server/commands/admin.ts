// `nanoclaw admin`: accounts from the command line, also while the server runs and when no administrator can sign in.
import { randomBytes } from 'node:crypto'
import { bringProjectsBack } from '../administration/end-account.ts'
import { createAccountLinks } from '../auth/account-links.ts'
import { linkPath } from '../auth/link-token.ts'
import { passwordRule } from '../auth/password-rule.ts'
import { createPasswords } from '../auth/passwords.ts'
import { assertMayReset } from '../auth/reset-rule.ts'
import { resetSecondFactors } from '../auth/second-factor/second-factors.ts'
import type { SecretKeySources } from '../auth/secret-keys.ts'
import type { Config } from '../config/schema.ts'
import { databaseSettings, installationSettings, workspaceSettings } from '../config/settings.ts'
import { connect } from '../db/connect.ts'
import type { Writer } from '../db/database.ts'
import type { AccountChanges, UserRow } from '../db/repositories/accounts/users.ts'
import { createStore, type Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { localUrl } from '../lib/local-url.ts'
import { assertMayCreate } from '../owner/places.ts'
import { Username } from '../protocol/accounts/user.ts'
import { COMMAND_LINE } from '../protocol/admin/audit.ts'
import type { UserId } from '../protocol/ids.ts'
import { createWorkspaces } from '../workspace/workspaces.ts'
import { assertDatabaseExists, quiet } from './stopped-server.ts'

const LIST_LIMIT = 100

export const ADMIN_USAGE = `nanoclaw admin list
nanoclaw admin create <name> [admin]     prints a link with which the person chooses a password
nanoclaw admin reset-password <name> [add-password]   prints such a link for an existing account; add-password: also for one that
                                           has none because its owner signs in with single sign-on
nanoclaw admin reset-second-factor <name>   for somebody who lost phone, passkeys and recovery codes
nanoclaw admin make-admin <name>
nanoclaw admin make-user <name>
nanoclaw admin disable <name>            a running server refuses the next request
nanoclaw admin enable <name>
nanoclaw admin end-sessions <name>
nanoclaw admin delete-user <name> [keep-data | hand-over <other>]   while the server is stopped; also: delete
nanoclaw admin export-user <name> [file]   everything of an account, while the server is stopped
nanoclaw admin rotate-keys [sign-out]    new keys for tokens and stored secrets, while the server is stopped
nanoclaw admin reset-push-key            a new key of push notifications if the stored one cannot be opened, while the server is stopped
nanoclaw admin adopt [copy]              gives data_dir, workspace_root and s3 to this database if they belong to another one; copy: this
                                           database is a copy of another one and becomes an installation of its own`

/** The changes that need only a name. */
const CHANGES: Readonly<Record<string, AccountChanges>> = {
  'make-admin': { role: 'admin' },
  'make-user': { role: 'user' },
  disable: { isActive: false },
  enable: { isActive: true },
  'end-sessions': { endSessions: true },
}

/**
 * @returns the lines to print, or null when the command is not one of `ADMIN_USAGE`.
 * @throws AppError `account_not_found`, `user_name_taken`, `last_administrator`, `password_sign_in_off`,
 * `account_without_password`.
 */
export async function administer(
  config: Config,
  [action = '', name, role, other]: readonly string[],
  keys: SecretKeySources = {},
): Promise<readonly string[] | null> {
  if (action === 'reset-password' && role !== undefined && role !== 'add-password') return null
  if (action === 'adopt') {
    if (name !== undefined && name !== 'copy') return null
    const { adopt } = await import('./adopt.ts')
    return adopt(config, name === 'copy')
  }
  if (action === 'reset-push-key') {
    const { resetPushKey } = await import('./reset-push-key.ts')
    return resetPushKey(config, keys)
  }
  if (action === 'rotate-keys') {
    if (name !== undefined && name !== 'sign-out') return null
    const { rotateKeys } = await import('./rotate-keys.ts')
    return rotateKeys(config, { keys, signOut: name === 'sign-out' })
  }
  if (name !== undefined && (action === 'delete-user' || action === 'delete')) {
    const isHandOver = role === 'hand-over'
    if (isHandOver ? other === undefined : role !== undefined && role !== 'keep-data') return null
    const { deleteUser } = await import('./delete-user.ts')
    const heirName = isHandOver ? (other ?? null) : null
    return deleteUser(config, name, { keepsData: role === 'keep-data', heirName })
  }
  if (name !== undefined && action === 'export-user') {
    const { exportOffline } = await import('./export.ts')
    const file = role ?? `${name}-${new Date().toISOString().slice(0, 10)}.zip`
    const { conversations, projects, files } = await exportOffline(config, file, name)
    return [
      `Wrote ${file}: ${conversations} conversations, ${projects} projects, ${files} attached files.`,
    ]
  }
  const changes = Object.hasOwn(CHANGES, action) ? CHANGES[action] : undefined
  const isKnown =
    changes !== undefined ||
    ['list', 'create', 'reset-password', 'reset-second-factor'].includes(action)
  if (!isKnown || (action !== 'list' && name === undefined)) return null
  // The first account may be created before the first start.
  await (action === 'create'
    ? assertMayCreate(installationSettings(config))
    : assertDatabaseExists(config))
  const database = await connect(databaseSettings(config), { log: quiet })
  try {
    const store = createStore(database)
    if (action === 'list') return await list(store)
    if (action === 'create') return await create(config, store, name, role === 'admin')
    const user = await store.users.findByName(name ?? '')
    if (user?.passwordHash == null) throw appError('account_not_found')
    if (action === 'reset-second-factor') {
      await resetSecondFactors(
        { factors: store.secondFactors, audit: store.audit, now: () => new Date() },
        user,
        COMMAND_LINE,
      )
      return [`${user.username}: second factors removed; the password alone is enough to sign in`]
    }
    if (changes === undefined) {
      const addsPassword = role === 'add-password'
      assertMayReset(user, { allowsPassword: passwordRule(config.oidc), addsPassword })
      return [await passwordLink(config, store, user)]
    }
    if (changes.isActive === true) await bringBack(config, store, user.id)
    await store.users.update(user.id, changes, {
      after: (tx) =>
        changes.endSessions === true
          ? record(store, tx, 'sessions_ended', { account: user.username })
          : record(store, tx, 'account_changed', { account: user.username, change: action }),
    })
    return [`${user.username}: ${action}`]
  } finally {
    await database.close()
  }
}

/** An interrupted deletion may have moved the folders of the account's projects. */
async function bringBack(config: Config, store: Store, id: UserId): Promise<void> {
  const workspaces = await createWorkspaces(workspaceSettings(config))
  await bringProjectsBack({ store, workspace: { workspaces } }, id)
}

async function list(store: Store): Promise<string[]> {
  const lines: string[] = []
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await store.users.list({ limit: LIST_LIMIT, cursor })
    for (const { username, role, isActive, email } of items)
      lines.push([username, role, isActive ? 'active' : 'disabled', email ?? ''].join('\t'))
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  return lines
}

async function create(
  config: Config,
  store: Store,
  name: string | undefined,
  isAdmin: boolean,
): Promise<string[]> {
  const { success, data: username = '' } = Username.safeParse(name)
  if (!success) throw appError('request_field_invalid', { part: 'name', detail: String(name) })
  // Nobody knows this password: the person sets the first one through the link.
  const passwordHash = await createPasswords().hash(randomBytes(32).toString('base64url'))
  const role = isAdmin ? 'admin' : 'user'
  const user = await store.users.register({ username, passwordHash }, async () => ({
    role,
    onCreated: (tx) => record(store, tx, 'register', { account: username, role }),
  }))
  return [`Created ${username} (${user.role}).`, await passwordLink(config, store, user)]
}

async function passwordLink(config: Config, store: Store, user: UserRow): Promise<string> {
  const { token } = await createAccountLinks(store).createReset(user, COMMAND_LINE)
  const base = config.public_url ?? localUrl(config.host, config.backend_port)
  return `Password link (works once, within 24 hours): ${base.replace(/\/+$/, '')}${linkPath(token)}`
}

const record = (
  store: Store,
  tx: Writer,
  action: 'account_changed' | 'register' | 'sessions_ended',
  details: Record<string, string>,
): Promise<void> => store.audit.record(tx, COMMAND_LINE, { action, at: new Date(), details })
