// Who sends a request, for the entry that an act leaves in the audit log.
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../protocol/admin/audit.ts'

/** The sender of a request. */
export function actorOf({
  user,
  apiKey,
  ip,
}: Pick<FastifyRequest, 'user' | 'apiKey' | 'ip'>): Actor {
  // Not set on public routes, whatever its type says.
  const sender: typeof user | undefined = user
  return {
    userId: sender?.id ?? null,
    username: sender?.username ?? null,
    address: ip,
    details: apiKey === null ? {} : { api_key: apiKey.id },
  }
}
