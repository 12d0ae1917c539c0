// The cards of calls that apps of MCP servers make and that wait for a decision.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { create } from 'zustand'
import { refreshApprovals, useApproval, useApprovals } from '../../../lib/api/approvals.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { LateApprovalCard } from '../approvals/late-approval-card.tsx'
import { pendingApproval } from '../approvals/listed-approval.ts'

/** The requests whose card is below the app that has asked. */
const useFramed = create<{ ids: readonly string[] }>(() => ({ ids: [] }))

/** The requests of one app on this page, below its frame. */
export function FramedRequests({ ids }: { ids: readonly string[] }) {
  useEffect(() => {
    useFramed.setState((before) => ({ ids: [...before.ids, ...ids] }))
    return () =>
      useFramed.setState((before) => ({ ids: before.ids.filter((id) => !ids.includes(id)) }))
  }, [ids])
  return ids.length === 0 ? null : (
    <div className="flex flex-col gap-2 border-t border-line p-2 empty:hidden">
      {ids.map((id) => (
        <Request key={id} id={id} />
      ))}
    </div>
  )
}

/** The requests of the run's apps that no open app waits for: it was loaded again, or closed. */
export function LeftRequests({ runId }: { runId: string }) {
  const framed = useFramed(({ ids }) => ids)
  const { data } = useApprovals('pending')
  const left = (data?.pages ?? [])
    .flatMap(({ items }) => items)
    .filter(
      ({ id, run_id, origin, person }) =>
        run_id === runId && origin.type === 'app' && person === null && !framed.includes(id),
    )
  return left.map(({ id }) => <Request key={id} id={id} />)
}

/** A card that has just appeared may be where a click was meant for something else: apps decide when it comes. */
const SETTLED_AFTER_MS = 800

function Request({ id }: { id: string }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { data } = useApproval(id)
  const approval = data?.state === 'pending' ? pendingApproval(data) : null
  const isShown = approval !== null
  const place = useRef<HTMLDivElement>(null)
  const [isSettled, setSettled] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!isShown || element === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new ResizeObserver(() => {
      clearTimeout(timer)
      // The card itself comes when its code has loaded.
      if (element.querySelector('[data-approval]') === null) return
      // Somebody who works in the app sees that it waits; nobody else is scrolled away.
      const focused = document.activeElement
      if (focused?.matches('iframe') && element.closest('section')?.contains(focused))
        element.scrollIntoView({ block: 'nearest' })
      timer = setTimeout(() => {
        observer.disconnect()
        setSettled(true)
      }, SETTLED_AFTER_MS)
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      clearTimeout(timer)
    }
  }, [isShown])
  if (data === undefined || approval === null) return null
  return (
    <div ref={place} inert={!isSettled} className="flex flex-col gap-1">
      <p className="text-note text-muted">{t('apps.mcpAsks')}</p>
      <LateApprovalCard
        runId={data.run_id}
        approval={approval}
        takesFocus={false}
        onDecided={() => {
          void refreshApprovals(client)
          void client.invalidateQueries({ queryKey: ['app-calls'] })
        }}
      />
    </div>
  )
}
