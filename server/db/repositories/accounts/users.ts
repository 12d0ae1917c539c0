// Accounts and their revoked tokens.
import { and, desc, eq, isNotNull, isNull, lt, ne, or, sql } from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import { afterMoment, containsFolded, countAll, foldCase, foldedPattern } from '../../fragments.ts'

// Protects the last administrator who can sign in; checked in the transaction that would remove one.

/** Whether the account administers the server. */
const isAdministrator = ({
  role,
  isActive,
}: Pick<Database['tables']['users']['$inferSelect'], 'role' | 'isActive'>): boolean =>
  role === 'admin' && isActive

/**
 * The transaction must have locked the accounts.
 * @throws AppError `last_administrator` if no other account is an administrator who can sign in.
 */
async function assertOtherAdministrator(
  tx: Writer,
  users: Database['tables']['users'],
  id: UserId,
): Promise<void> {
  const [other] = await tx
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(users.role, 'admin'),
        eq(users.isActive, true),
        // The user of single mode has no password: nobody can sign in as that user.
        isNotNull(users.passwordHash),
        ne(users.id, id),
      ),
    )
    .limit(1)
  if (other === undefined) throw appError('last_administrator')
}

/** A row of `users`. */
export type UserRow = Database['tables']['users']['$inferSelect']
/** A row of `sessions`. */
export type SessionRow = Database['tables']['sessions']['$inferSelect']

/** A new account. `passwordHash` is null for an account without a password. */
export type NewAccount = { username: string; passwordHash: string | null; email?: string | null }
/** Changes of an account. Absent fields stay unchanged. */
export type AccountChanges = Partial<
  Pick<UserRow, 'email' | 'avatar' | 'passwordHash' | 'keptToken' | 'role' | 'isActive'>
> & {
  /** The password hash that the change was authorized with: the change is refused if the password has changed since. */
  expectedPasswordHash?: string | null
  /** Deletes the user's API keys as well. */
  revokeKeys?: boolean
  /** Revokes every token issued before and ends all sessions, as a new password does. */
  endSessions?: boolean
  /** The session that stays when the others end. */
  keptSession?: string | undefined
}

/** How an account may be created. */
export interface Admission {
  role: UserRow['role']
  /** Runs in the transaction that created the account. */
  onCreated?(tx: Writer, id: UserId): Promise<void>
}

/** Stores accounts. */
export type UserRepository = ReturnType<typeof createUserRepository>

const nameTaken = () => appError('user_name_taken')

/** Finds and lists accounts. */
function createUserFinder(database: Database) {
  return {
    ...findOne(database),
    ...findMany(database),
  }
}

/** Single users. */
function findOne(database: Database) {
  const { read, tables } = database
  const { users, revokedTokens, sessions } = tables
  const sessionStatement = read
    .select({ user: users, session: sessions })
    .from(users)
    .leftJoin(revokedTokens, eq(revokedTokens.jti, sql.placeholder('jti')))
    .leftJoin(
      sessions,
      and(eq(sessions.id, sql.placeholder('sessionId')), eq(sessions.userId, users.id)),
    )
    .where(and(eq(users.id, sql.placeholder('id')), isNull(revokedTokens.jti)))
    .prepare('session')
  return {
    async find(id: UserId): Promise<UserRow | undefined> {
      const [user] = await read.select().from(users).where(eq(users.id, id))
      return user
    },

    /** Whether the account is active, as the open transaction sees it. */
    async isActive(tx: Reader, id: UserId): Promise<boolean> {
      const [user] = await tx
        .select({ isActive: users.isActive })
        .from(users)
        .where(eq(users.id, id))
      return user?.isActive === true
    },

    async findByName(username: string): Promise<UserRow | undefined> {
      const [user] = await read
        .select()
        .from(users)
        .where(eq(users.usernameKey, foldCase(username)))
      return user
    },

    async findByEmail(email: string): Promise<UserRow | undefined> {
      const [user] = await read
        .select()
        .from(users)
        .where(eq(users.emailKey, foldCase(email)))
      return user
    },

    /**
     * The account of a session token, unless that token was revoked, and its session. One query, because every request
     * needs it. @param sessionId empty for a token without a session.
     */
    async findForSession(
      id: UserId,
      jti: string,
      sessionId: string,
    ): Promise<{ user: UserRow; session: SessionRow | null } | undefined> {
      const [found] = await sessionStatement.execute({ id, jti, sessionId })
      return found
    },
  }
}

/** How many there are, and lists of them. */
function findMany(database: Database) {
  const { read, tables } = database
  const { users } = tables
  return {
    /** The number of accounts that someone can sign in to. */
    async count(): Promise<number> {
      const [row] = await read
        .select({ count: countAll })
        .from(users)
        .where(isNotNull(users.passwordHash))
      return row?.count ?? 0
    },

    /** Accounts, newest first. @param text matches part of the user name or email address. */
    async list({
      limit,
      cursor,
      text,
      role,
      isActive,
    }: {
      limit: number
      cursor?: string | undefined
      text?: string | undefined
      role?: UserRow['role'] | undefined
      isActive?: boolean | undefined
    }) {
      const pattern = text === undefined ? undefined : foldedPattern(text)
      const after = cursor === undefined ? undefined : decodeCursor(MomentCursor, cursor)
      const rows = await read
        .select()
        .from(users)
        .where(
          and(
            after && afterMoment(users.createdAt, users.id, new Date(after[0]), after[1]),
            pattern === undefined
              ? undefined
              : or(
                  containsFolded(users.usernameKey, pattern),
                  containsFolded(users.emailKey, pattern),
                ),
            role === undefined ? undefined : eq(users.role, role),
            isActive === undefined ? undefined : eq(users.isActive, isActive),
          ),
        )
        .orderBy(desc(users.createdAt), desc(users.id))
        .limit(limit + 1)
      return toPage(rows, limit, (user) => [user.createdAt.getTime(), user.id])
    },
  }
}

/** Uses the tables `users`, `accountLinks`, `apiKeys`, `revokedTokens` and `sessions`. */
export function createUserRepository(database: Database) {
  const { read, tables } = database
  const { users, revokedTokens } = tables

  return {
    ...createUserFinder(database),

    /** For checks that also run inside the transactions of this repository. */
    reader: read satisfies Reader,
    /**
     * Deletes an account and the rows that belong to it. @throws AppError `last_administrator`, also if a disabled account
     * has been enabled since.
     * @param after runs in the same transaction once the account is deleted.
     */
    remove: (id: UserId, after: (tx: Writer) => Promise<void> = async () => {}): Promise<void> =>
      database.write(async (tx) => {
        await tx.lock('users')
        const [user] = await tx.select().from(users).where(eq(users.id, id))
        if (user === undefined) return
        if (isAdministrator(user)) await assertOtherAdministrator(tx, users, id)
        await tx.delete(users).where(eq(users.id, id))
        await after(tx)
      }),

    /**
     * Creates an account.
     * @param admit decides the role, or throws to refuse. It receives the number of accounts, without the user of single
     * mode, because nobody can sign in as that user. Other registrations wait meanwhile.
     * @throws AppError `user_name_taken` for a user name or email address that is taken, ignoring case.
     */
    register: (
      account: NewAccount,
      admit: (tx: Writer, count: number) => Promise<Admission>,
    ): Promise<UserRow> =>
      unlessTaken(
        database,
        database.write(async (tx) => {
          await tx.lock('users')
          const [row] = await tx
            .select({ count: countAll })
            .from(users)
            .where(isNotNull(users.passwordHash))
          const { role, onCreated } = await admit(tx, row?.count ?? 0)
          const user = await insert(database, tx, account, role)
          await onCreated?.(tx, user.id)
          return user
        }),
      ),

    /** The user of single mode, created at the first call. */
    ensureDefault: (username: string): Promise<UserRow> =>
      database.write(async (tx) => {
        await tx.lock('users')
        const [user] = await tx
          .select()
          .from(users)
          .where(eq(users.usernameKey, foldCase(username)))
        return user ?? insert(database, tx, { username, passwordHash: null }, 'admin')
      }),

    /**
     * Updates an account. A new password revokes every token issued before. A new password or address ends open links for a
     * new password. Resolves with undefined when there is no such account.
     * @param within runs in the same transaction: `before` first, and throws to refuse; `after` with the account as changed.
     * @throws AppError `last_administrator` when no administrator who can sign in would remain, `password_changed` when the
     * password is not the expected one, `user_name_taken`.
     */
    update: (
      id: UserId,
      changes: AccountChanges,
      within?: {
        before?(tx: Writer): Promise<void>
        after?(tx: Writer, changed: UserRow): Promise<void>
      },
    ) => update(database, id, changes, within),

    /** Revokes one token until it expires, and removes revocations of expired tokens. `after` is part of it. */
    revokeToken: (
      jti: string,
      expiresAt: Date,
      after: (tx: Writer) => Promise<void>,
    ): Promise<void> =>
      database.write(async (tx) => {
        await tx.insert(revokedTokens).values({ jti, expiresAt }).onConflictDoNothing()
        await tx.delete(revokedTokens).where(lt(revokedTokens.expiresAt, new Date()))
        await after(tx)
      }),
  }
}

function update(
  database: Database,
  id: UserId,
  { expectedPasswordHash, revokeKeys, endSessions, keptSession, ...changes }: AccountChanges,
  within: {
    before?(tx: Writer): Promise<void>
    after?(tx: Writer, changed: UserRow): Promise<void>
  } = {},
): Promise<UserRow | undefined> {
  const { users, sessions, accountLinks, apiKeys, schedules } = database.tables
  return unlessTaken(
    database,
    database.write(async (tx) => {
      await tx.lock('users')
      await within.before?.(tx)
      const [user] = await tx.select().from(users).where(eq(users.id, id))
      if (user === undefined) return undefined
      if (expectedPasswordHash !== undefined && expectedPasswordHash !== user.passwordHash)
        throw appError('password_changed')
      const changed: UserRow = { ...user, ...changes }
      if (changes.email !== undefined)
        changed.emailKey = changes.email === null ? null : foldCase(changes.email)
      const isEnding =
        changes.passwordHash !== undefined ||
        endSessions === true ||
        (user.isActive && !changed.isActive)
      if (isEnding) {
        changed.tokenVersion = user.tokenVersion + 1
        changed.keptToken = changes.keptToken ?? null
        await tx
          .delete(sessions)
          .where(
            and(
              eq(sessions.userId, id),
              keptSession === undefined ? undefined : ne(sessions.id, keptSession),
            ),
          )
      }
      if (isAdministrator(user) && !isAdministrator(changed))
        await assertOtherAdministrator(tx, users, id)
      if (changes.passwordHash !== undefined || changed.emailKey !== user.emailKey)
        await tx
          .delete(accountLinks)
          .where(
            and(
              eq(accountLinks.kind, 'reset'),
              eq(accountLinks.userId, id),
              isNull(accountLinks.usedAt),
            ),
          )
      if (revokeKeys === true) await tx.delete(apiKeys).where(eq(apiKeys.userId, id))
      if (user.isActive && !changed.isActive)
        await tx
          .update(schedules)
          .set({ enabled: false, nextAt: null, disabledReason: 'owner' })
          .where(and(eq(schedules.userId, id), eq(schedules.enabled, true)))
      await tx.update(users).set(changed).where(eq(users.id, id))
      await within.after?.(tx, changed)
      return changed
    }),
  )
}

async function unlessTaken<T>(database: Database, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw database.isUniqueViolation(error) ? nameTaken() : error
  }
}

async function insert(
  database: Database,
  tx: Writer,
  { username, passwordHash, email }: NewAccount,
  role: UserRow['role'],
): Promise<UserRow> {
  const { users } = database.tables
  const user: UserRow = {
    id: newId<UserId>(),
    username,
    usernameKey: foldCase(username),
    passwordHash,
    email: email ?? null,
    emailKey: email == null ? null : foldCase(email),
    avatar: null,
    role,
    isActive: true,
    tokenVersion: 0,
    keptToken: null,
    createdAt: new Date(),
  }
  await tx.insert(users).values(user)
  return user
}
