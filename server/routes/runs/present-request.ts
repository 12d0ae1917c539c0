// A request for a decision on the wire.
import { writtenArguments } from '../../db/repositories/runs/approvals.ts'
import type { ApprovalContent, ListedRequest } from '../../db/repositories/runs/request-list.ts'
import { askedId, toPendingInput } from '../../db/repositories/runs/run-inputs.ts'
import { fieldsOf, parseJson } from '../../protocol/read-json.ts'
import type { Approval } from '../../protocol/runs/approval.ts'
import { visibleValue } from '../../protocol/runs/visible-text.ts'
import { originOfRun } from '../../runs/state.ts'

/** The wire format of a request. */
export function presentRequest(listed: ListedRequest): Approval {
  const { request, conversationTitle, decidedByName, endedAt, person } = listed
  const { decidedBy } = request
  const isLeft = request.status === 'pending' && endedAt !== null
  const shared: Omit<Approval, 'type' | 'id_ref' | 'call_hash' | 'reason'> = {
    id: request.id,
    run_id: request.runId,
    conversation_id: listed.conversationId,
    conversation_title: conversationTitle,
    project_id: listed.projectId,
    person,
    origin: originOfRun(listed),
    tainted: request.tainted,
    requested_at: request.createdAt.toISOString(),
    deadline: request.deadline?.toISOString() ?? null,
    state: isLeft ? 'void' : request.status,
    decided_at: (isLeft ? endedAt : request.decidedAt)?.toISOString() ?? null,
    decided_by:
      decidedBy === null || decidedByName === null ? null : { id: decidedBy, name: decidedByName },
    decided_through: request.decidedThrough,
  }
  if (listed.type === 'input')
    return {
      ...shared,
      type: 'input',
      id_ref: askedId(listed.request.idRef),
      input: toPendingInput(listed.request),
      call_hash: request.callHash ?? '',
      reason: null,
    }
  const approval = listed.request
  return {
    ...shared,
    ...(approval.byApp ? { origin: { type: 'app' as const } } : {}),
    type: approval.name === 'plan' ? 'plan' : 'approval',
    id_ref: approval.idRef,
    name: approval.name,
    risk_level: approval.riskLevel,
    ...(listed.content === null ? { partial: true } : presentContent(listed.content)),
    call_hash: approval.callHash,
    reason: approval.reason,
  }
}

const presentContent = (
  content: ApprovalContent,
): Pick<Approval, 'arguments' | 'preview' | 'decided_arguments'> => ({
  arguments: writtenArguments(content),
  ...(content.preview === null ? {} : { preview: visibleValue(content.preview) }),
  ...(content.decidedArguments === null
    ? {}
    : { decided_arguments: fieldsOf(parseJson(content.decidedArguments)) }),
})
