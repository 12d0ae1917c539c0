// The identity of an authenticated user.
import type { UserId } from '../protocol/ids.ts'

/** The signed-in user of a request. */
export interface Identity {
  id: UserId
  username: string
  role: 'admin' | 'user'
  /** The account's version at the time of authentication; each password change increments it. */
  tokenVersion: number
}
