// An account on the wire, for its owner and for administrators.
import type { UserRow } from '../../db/repositories/accounts/users.ts'
import type { User } from '../../protocol/accounts/user.ts'

/** The wire format of an account, for its owner and for administrators. */
export const presentUser = (user: UserRow): User => ({
  id: user.id,
  username: user.username,
  email: user.email,
  avatar: user.avatar,
  role: user.role,
  is_active: user.isActive,
  created_at: user.createdAt.toISOString(),
})
