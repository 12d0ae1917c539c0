// The signed-in user, as all modules above see it.
import type { UserId } from '../protocol/ids.ts'

/** The signed-in user of a request. */
export interface Identity {
  id: UserId
  username: string
  role: 'admin' | 'user'
  /** The account's version at the time of authentication; it grows with each new password. */
  tokenVersion: number
}
