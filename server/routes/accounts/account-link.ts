// What the page shows a person who opens a setup, invitation, reset or confirmation link.

import { appError } from '../../errors.ts'
import type { AccountLink } from '../../protocol/accounts/user.ts'
import type { Services } from '../../services.ts'

/** What a link is for. @throws AppError `account_link_invalid`. */
export async function readAccountLink(
  { accounts, links, setup }: Pick<Services, 'accounts' | 'links' | 'setup'>,
  token: string,
): Promise<AccountLink> {
  if (setup.matches(token) && !(await accounts.exist()))
    return { kind: 'setup', role: 'admin', username: null, expires_at: null }
  const link = await links.find(token)
  if (link === undefined) throw appError('account_link_invalid')
  const { kind, role, userId } = link
  const expiresAt = link.expiresAt.toISOString()
  if (kind !== 'reset' || userId === null)
    return {
      kind,
      role: kind === 'invitation' ? role : null,
      username: null,
      ...(kind === 'confirmation' ? { address: link.note } : {}),
      expires_at: expiresAt,
    }
  const { username } = await accounts.profile(userId)
  return { kind, role: null, username, expires_at: expiresAt }
}
