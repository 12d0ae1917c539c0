// All pending approval requests of a run: their number, the cards, and a button that rejects all.
import { useState } from 'react'
import type { PendingApproval } from '../../../../../server/protocol/runs/run-event.ts'
import { decide } from '../../../lib/api/runs.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { reportError } from '../../../ui/states/error-text.ts'
import { useLiveRuns } from '../runs/live-runs.ts'
import { LateApprovalCard } from './late-approval-card.tsx'

/** Shown below the steps of an answer whose run waits for approval. Renders nothing without requests. */
export function PendingApprovals({
  runId,
  approvals,
}: {
  runId: string
  /** In display order. */
  approvals: readonly PendingApproval[]
}) {
  const { t } = useTranslation()
  const [busy, setBusy] = useState(false)
  const onDecided = (id: string): void => useLiveRuns.getState().removeApproval(runId, id)

  /** Rejects the requests one after another. A request that was decided elsewhere meanwhile is not an error. */
  const rejectAll = async (): Promise<void> => {
    setBusy(true)
    try {
      for (const { id_ref: id } of approvals) {
        await decide(runId, { id_ref: id, decision: 'reject' }).catch((error: unknown) => {
          if (!(error instanceof ApiError && error.status === 409)) throw error
        })
        onDecided(id)
      }
      if (matchMedia('(pointer: fine)').matches) document.getElementById('composer')?.focus()
    } catch (error) {
      reportError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {approvals.length > 1 && (
        <div className="flex flex-wrap items-center justify-between gap-2">
          <p role="status" className="text-sm text-soft">
            {t('approval.waiting', { count: approvals.length })}
          </p>
          <Button size="small" tone="danger" disabled={busy} onClick={() => void rejectAll()}>
            {t('approval.rejectAll')}
          </Button>
        </div>
      )}
      {approvals.map((approval, place) => (
        <LateApprovalCard
          key={approval.id_ref}
          runId={runId}
          approval={approval}
          place={approvals.length > 1 ? { number: place + 1, total: approvals.length } : null}
          folded={place > 0}
          onDecided={() => onDecided(approval.id_ref)}
        />
      ))}
    </>
  )
}
