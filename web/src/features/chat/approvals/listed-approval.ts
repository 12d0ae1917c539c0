// A request of the list as the cards of conversations show it.
import type { CallId } from '../../../../../server/protocol/ids.ts'
import type { Approval } from '../../../../../server/protocol/runs/approval.ts'
import type { PendingApproval } from '../../../../../server/protocol/runs/run-event.ts'

/** The page leaves out the library of schemas, whose `CallId` would check the same. */
const isCallId = (id: string): id is CallId => id !== '' && id.length <= 200

/** The request as the card of a conversation shows it; null for a question of an MCP server. */
export function pendingApproval(item: Approval): PendingApproval | null {
  const { id_ref, name, risk_level, preview } = item
  if (name === undefined || risk_level === undefined || !isCallId(id_ref)) return null
  return {
    id_ref,
    approval_id: item.id,
    call_hash: item.call_hash,
    deadline: item.deadline,
    name,
    arguments: JSON.stringify(item.arguments ?? {}),
    risk_level,
    ...(preview === undefined ? {} : { preview }),
  }
}
