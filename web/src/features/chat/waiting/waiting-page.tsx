// The page of what waits for the user in all conversations, and of what was decided.

import { useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { Inbox } from 'lucide-react'
import { type ComponentType, useState } from 'react'
import { Link } from 'wouter'
import type { Approval } from '../../../../../server/protocol/runs/approval.ts'
import {
  approvalListKey,
  refreshApprovals,
  useApproval,
  useApprovals,
} from '../../../lib/api/approvals.ts'
import { approvalQuestion } from '../../../lib/approval-question.ts'
import { shortTime } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { Segmented } from '../../../ui/controls/segmented.tsx'
import { ShowMore } from '../../../ui/controls/show-more.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../../ui/states/feedback.tsx'
import { LateApprovalCard } from '../approvals/late-approval-card.tsx'
import { pendingApproval } from '../approvals/listed-approval.ts'
import { PendingInputs } from '../inputs/pending-inputs.tsx'
import { prettyVisible } from '../steps/tool-content.ts'

const STATES = ['pending', 'decided'] as const
type State = (typeof STATES)[number]

/** The page at `/waiting`. */
export function WaitingPage() {
  const { t } = useTranslation()
  const [state, setState] = useState<State>('pending')
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-6 px-5 py-8">
      <header className="flex flex-wrap items-end justify-between gap-3">
        <h1 className="font-display text-3xl tracking-tight">{t('waiting.title')}</h1>
        <Segmented
          label={t('waiting.show')}
          value={state}
          options={STATES.map((value) => ({ value, label: t(`waiting.${value}`) }))}
          onChange={setState}
        />
      </header>
      <RequestList key={state} state={state} />
    </div>
  )
}

function RequestList({ state }: { state: State }) {
  const { t } = useTranslation()
  const list = useApprovals(state)
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  if (list.isLoadingError)
    return <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
  if (list.isPending) return <Loading />
  if (items.length === 0)
    return (
      <Empty
        icon={Inbox}
        title={t(`waiting.none.${state}`)}
        {...(state === 'pending' ? { text: t('waiting.noneText') } : {})}
      />
    )
  return (
    <section aria-label={t(`waiting.${state}`)}>
      <ul className="flex flex-col gap-6">
        {items.map((item) => (
          <li key={item.id} className="flex flex-col gap-2">
            <Place item={item} />
            <Whole item={item}>{state === 'pending' ? Waiting : Decided}</Whole>
          </li>
        ))}
      </ul>
      <ShowMore list={list} queryKey={approvalListKey(state)} tone="quiet" />
    </section>
  )
}

/** The conversation of a request, or whose request it is if the user decides for somebody else; and its times. */
function Place({ item }: { item: Approval }) {
  const { t, i18n } = useTranslation()
  const { conversation_title: title, deadline, state } = item
  const facts = [
    shortTime(item.decided_at ?? item.requested_at, i18n.language),
    state === 'pending' && deadline !== null
      ? t('waiting.until', { time: shortTime(deadline, i18n.language) })
      : null,
  ].filter((fact) => fact !== null)
  return (
    <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
      {item.person === null ? (
        <Link
          href={paths.conversation(item.conversation_id)}
          dir="auto"
          className="touch-target inline-flex min-w-0 items-center font-medium underline-offset-3 hover:underline"
        >
          <span className="truncate">{title || t('conversation.untitled')}</span>
        </Link>
      ) : (
        <span dir="auto" className="min-w-0 truncate font-medium">
          {t('waiting.of', { name: item.person.name })}
        </span>
      )}
      <span className="text-note text-muted tabular-nums">
        <Facts of={facts} />
      </span>
    </p>
  )
}

/** Loads what the list left out, so that a card never shows less than what runs. */
function Whole({
  item,
  children: Shown,
}: {
  item: Approval
  children: ComponentType<{ item: Approval }>
}) {
  const { data, error, isLoadingError, refetch } = useApproval(item.id, item.partial === true)
  if (item.partial !== true) return <Shown item={item} />
  if (isLoadingError) return <Failed message={errorText(error)} onRetry={() => void refetch()} />
  return data === undefined ? <Loading /> : <Shown item={data} />
}

/**
 * The cards of a list do not take the focus: a shortcut would decide a request that arrived a moment ago. After a decision,
 * the list is loaded again, also while no changes arrive.
 */
function Waiting({ item }: { item: Approval }) {
  const client = useQueryClient()
  const onDecided = (): void => void refreshApprovals(client)
  if (item.input !== undefined)
    return (
      <PendingInputs
        runId={item.run_id}
        inputs={[item.input]}
        callHash={item.call_hash}
        takesFocus={false}
        onAnswered={onDecided}
      />
    )
  const approval = pendingApproval(item)
  return approval === null ? null : (
    <LateApprovalCard
      runId={item.run_id}
      approval={approval}
      takesFocus={false}
      isForOther={item.person !== null}
      onDecided={onDecided}
    />
  )
}

/** How a decision came, in words. */
function doorText(door: NonNullable<Approval['decided_through']>, t: TFunction): string {
  switch (door) {
    case 'page':
    case 'api':
    case 'push':
    case 'link':
    case 'mcp':
    case 'deadline':
      return t(`waiting.through.${door}`)
    default:
      return t('waiting.through.channel', { name: door.slice('channel:'.length) })
  }
}

function Decided({ item }: { item: Approval }) {
  const { t } = useTranslation()
  const approval = pendingApproval(item)
  const facts = [
    t(`waiting.state.${item.state}`),
    item.decided_through === null ? null : doorText(item.decided_through, t),
    item.decided_arguments === undefined ? null : t('waiting.changed'),
    item.reason === null ? null : t('waiting.reason', { reason: item.reason }),
  ].filter((fact) => fact !== null)
  return (
    <div className="rounded-2xl border border-line bg-surface px-4 py-2.5 text-sm">
      <p className="font-medium [overflow-wrap:anywhere]">
        {approval === null ? item.input?.message : approvalQuestion(approval, t)}
      </p>
      <p className="mt-0.5 text-note text-muted [overflow-wrap:anywhere]">
        <Facts of={facts} />
      </p>
      {item.decided_arguments !== undefined && (
        <details className="mt-1.5 text-note">
          <summary className="touch-target cursor-pointer text-soft">
            {t('waiting.changedArguments')}
          </summary>
          <pre className="mt-1.5 max-h-80 overflow-auto rounded-lg bg-sunken p-2.5 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
            {prettyVisible(JSON.stringify(item.decided_arguments))}
          </pre>
        </details>
      )}
    </div>
  )
}
