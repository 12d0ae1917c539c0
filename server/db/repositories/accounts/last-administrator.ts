// Protects the last administrator who can sign in; checked in the transaction that would remove one.
import { and, eq, isNotNull, ne } from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** Whether the account administers the server. */
export const isAdministrator = ({
  role,
  isActive,
}: Pick<Database['tables']['users']['$inferSelect'], 'role' | 'isActive'>): boolean =>
  role === 'admin' && isActive

/**
 * The transaction must have locked the accounts.
 * @throws AppError `last_administrator` if no other account is an administrator who can sign in.
 */
export async function assertOtherAdministrator(
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
