// What a run waits for: approvals and inputs. Also those of answers that are not on the page.
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { PendingApprovals } from '../approvals/pending-approvals.tsx'
import { useComparison } from '../compare/comparisons.ts'
import { PendingInputs } from '../inputs/pending-inputs.tsx'
import { type LiveRun, useLiveRuns, waitsForPerson } from '../runs/live-runs.ts'

/** Approval requests arrive when their previews are ready; sorts them by the order of their calls. */
const inOrderOfCalls = ({ approvals, steps }: LiveRun) => {
  const placeOf = (callId: string): number =>
    steps.findIndex((step) => step?.type === 'tool_call' && step.id_ref === callId)
  return approvals.toSorted((one, other) => placeOf(one.id_ref) - placeOf(other.id_ref))
}

/** The cards of one run. Renders nothing while it waits for nobody. */
export function PendingDecisions({ live }: { live: LiveRun }) {
  return (
    <>
      {live.approvals.length > 0 && (
        <PendingApprovals runId={live.runId} approvals={inOrderOfCalls(live)} />
      )}
      {live.inputs.length > 0 && <PendingInputs runId={live.runId} inputs={live.inputs} />}
    </>
  )
}

/**
 * The cards of the conversation's runs whose answers are in no shown branch: a second answer to a question, started on another
 * device or before the comparison was closed.
 */
export function HiddenDecisions({
  conversationId,
  messages,
}: {
  conversationId: string
  messages: readonly Message[]
}) {
  const { t } = useTranslation()
  const comparison = useComparison(conversationId)
  const byId = useLiveRuns((runs) => runs.byId)
  const onBranch = (id: string | null | undefined): boolean =>
    messages.some((message) => message.id === id)
  const compared =
    comparison !== null && (onBranch(comparison.first) || onBranch(comparison.second))
      ? [comparison.first, comparison.second]
      : []
  const hidden = Object.values(byId).filter(
    (run) =>
      run.conversationId === conversationId &&
      run.state === 'running' &&
      run.messageId !== null &&
      waitsForPerson(run) &&
      !onBranch(run.messageId) &&
      !compared.includes(run.messageId),
  )
  if (hidden.length === 0) return null
  return (
    <section
      aria-label={t('chat.waiting')}
      className="mb-2 flex max-h-[50dvh] flex-col gap-3 overflow-y-auto"
    >
      {hidden.map((live) => (
        <PendingDecisions key={live.runId} live={live} />
      ))}
    </section>
  )
}
