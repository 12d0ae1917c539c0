// What an answer did, in full: files with their changes and undo, commands, messages, failures, cost.
import { useQuery } from '@tanstack/react-query'
import { RotateCcw, SquareSplitHorizontal } from 'lucide-react'
import { type ReactNode, use, useState } from 'react'
import { Link } from 'wouter'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import type { Receipt } from '../../../../../server/protocol/runs/receipt.ts'
import { useCheckpointDiff } from '../../../lib/api/checkpoints.ts'
import { messageKeys } from '../../../lib/api/messages.ts'
import { useMayChange } from '../../../lib/api/projects.ts'
import { useSchedule } from '../../../lib/api/schedules.ts'
import { foreignLanguageOf } from '../../../lib/browser/language-of.ts'
import { money } from '../../../lib/format.ts'
import { request } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../../lib/list-keys.ts'
import { paths } from '../../../lib/paths.ts'
import { toolTitle } from '../../../lib/tool-title.ts'
import { LineCounts } from '../../../ui/code/line-counts.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { ConversationContext } from '../conversation-context.ts'
import { UndoChanges } from './undo-changes.tsx'

const DiffView = lazyPart(() =>
  import('../../../ui/code/diff-view.tsx').then((module) => module.DiffView),
)

const CHANGE_MARKS = { added: '+', modified: '~', deleted: '−' } as const
const CHANGE_TONES = { added: 'text-ok', modified: 'text-warn', deleted: 'text-bad' } as const

/** Files that are listed; the line above says how many there are. */
const SHOWN_FILES = 200

/** Refetched together with the messages: what was sent may have been delivered meanwhile. */
const useReceipt = (conversationId: string, messageId: string) =>
  useQuery({
    queryKey: [...messageKeys.list(conversationId), 'receipt', messageId],
    queryFn: ({ signal }) =>
      request<Receipt>(`/api/conversations/${conversationId}/messages/${messageId}/receipt`, {
        signal,
      }),
    meta: { quiet: true },
  })

/** Fetches the receipt. */
export function ReceiptDetails({
  conversationId,
  messageId,
}: {
  conversationId: string
  messageId: MessageId
}) {
  const receipt = useReceipt(conversationId, messageId)
  if (receipt.isPending) return <Loading />
  if (receipt.isError)
    return <Failed message={errorText(receipt.error)} onRetry={() => void receipt.refetch()} />
  return <Details receipt={receipt.data} messageId={messageId} conversationId={conversationId} />
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="text-note font-medium text-muted">{title}</h3>
      <ul className="mt-1 flex flex-col gap-1">{children}</ul>
    </div>
  )
}

function Details({
  receipt,
  messageId,
  conversationId,
}: {
  receipt: Receipt
  messageId: MessageId
  conversationId: string
}) {
  const { t, i18n } = useTranslation()
  const { calls, commands, sent, remembered, scheduled, unfinished, unresolved } = receipt
  const costs = Object.entries(receipt.usage?.cost ?? {}).filter(([, amount]) => amount > 0)
  const undecided = calls.expired + calls.parked
  const notes = [
    ...(calls.rejected > 0 ? [t('receipt.rejected', { count: calls.rejected })] : []),
    ...(undecided > 0 ? [t('receipt.undecided', { count: undecided })] : []),
    ...costs.map(
      ([currency, amount]) => `${t('receipt.cost')}: ${money(amount, currency, i18n.language)}`,
    ),
    ...(receipt.imported === true ? [t('receipt.imported')] : []),
  ]
  const nameOf = (to: string): string => {
    if (to.startsWith('channel:')) return to.slice('channel:'.length)
    return to === conversationId ? t('receipt.thisConversation') : t('receipt.otherConversation')
  }
  return (
    <div className="flex flex-col gap-3">
      {receipt.files.length > 0 && <Files files={receipt.files} messageId={messageId} />}
      {commands.length > 0 && (
        <Section title={t('receipt.commandsTitle')}>
          {commands.map(({ command, exit_code: code, id_ref: id }) => (
            <li key={id} className="flex flex-wrap items-baseline gap-x-3">
              <code className="min-w-0 font-mono text-code [overflow-wrap:anywhere]">
                {command}
              </code>
              <span className={code === 0 ? 'text-note text-muted' : 'text-note text-bad'}>
                {code === null ? t('receipt.killed') : t('receipt.exit', { code })}
              </span>
            </li>
          ))}
        </Section>
      )}
      {sent.length > 0 && (
        <Section title={t('receipt.sentTitle')}>
          {atPlaces(sent).map(({ place, item: { to, delivered } }) => (
            <li key={place} className="flex flex-wrap items-baseline gap-x-3">
              <span className="min-w-0 [overflow-wrap:anywhere]">{nameOf(to)}</span>
              <span className={delivered === false ? 'text-note text-bad' : 'text-note text-muted'}>
                {delivered === null
                  ? t('receipt.underway')
                  : delivered
                    ? t('receipt.delivered')
                    : t('receipt.notDelivered')}
              </span>
            </li>
          ))}
        </Section>
      )}
      {remembered.length > 0 && (
        <Section title={t('receipt.rememberedTitle')}>
          {atPlaces(remembered).map(({ place, item }) => (
            <li key={place} className="[overflow-wrap:anywhere]">
              {item}
            </li>
          ))}
        </Section>
      )}
      {scheduled.length > 0 && (
        <Section title={t('receipt.scheduledTitle')}>
          {scheduled.map((id) => (
            <li key={id}>
              <ScheduleLink id={id} />
            </li>
          ))}
        </Section>
      )}
      {unresolved.length > 0 && (
        <Section title={t('receipt.unresolvedTitle')}>
          {unresolved.map(({ id_ref: id, name, error }) => (
            <li key={id} className="[overflow-wrap:anywhere]">
              <span className="font-medium">{toolTitle(name, t)}</span>
              <span lang={foreignLanguageOf(error, i18n.language)} className="text-bad">
                {' '}
                {error}
              </span>
            </li>
          ))}
        </Section>
      )}
      {unfinished.length > 0 && (
        <Section title={t('receipt.unfinishedTitle')}>
          {unfinished.map(({ id, text }) => (
            <li key={id} className="[overflow-wrap:anywhere]">
              {text}
            </li>
          ))}
        </Section>
      )}
      {receipt.files.length +
        commands.length +
        sent.length +
        remembered.length +
        scheduled.length ===
        0 && <p className="text-muted">{t('receipt.nothing')}</p>}
      {notes.length > 0 && <p className="text-note text-muted">{notes.join(' · ')}</p>}
    </div>
  )
}

function Files({ files, messageId }: { files: Receipt['files']; messageId: MessageId }) {
  const { t } = useTranslation()
  const { projectId } = use(ConversationContext)
  const [shown, setShown] = useState<Receipt['files'][number] | null>(null)
  const mayChange = useMayChange(projectId)
  const [isUndoing, setUndoing] = useState(false)
  const isThere = files.some(({ checkpoint_id: id }) => id !== null)
  return (
    <div>
      <Section title={t('receipt.filesTitle')}>
        {files.slice(0, SHOWN_FILES).map((file) => (
          <li key={file.path} className="flex flex-wrap items-center gap-x-2">
            <span className={CHANGE_TONES[file.change]} title={t(`history.${file.change}`)}>
              {CHANGE_MARKS[file.change]}
              <span className="sr-only">{t(`history.${file.change}`)}</span>
            </span>
            <span className="min-w-0 font-mono text-code [overflow-wrap:anywhere]">
              {file.path}
            </span>
            <span className="flex gap-1.5 text-note tabular-nums">
              <LineCounts added={file.added ?? undefined} removed={file.removed ?? undefined} />
            </span>
            {projectId !== null && file.checkpoint_id !== null && (
              <Button
                size="small"
                tone="quiet"
                icon={SquareSplitHorizontal}
                onClick={() => setShown(file)}
              >
                {t('receipt.showChange')}
              </Button>
            )}
          </li>
        ))}
        {files.length > SHOWN_FILES && (
          <li className="text-muted">{t('history.more', { count: files.length - SHOWN_FILES })}</li>
        )}
      </Section>
      {projectId !== null && isThere && mayChange && (
        <div className="mt-1 -ms-2">
          <Button size="small" tone="quiet" icon={RotateCcw} onClick={() => setUndoing(true)}>
            {t('receipt.undo')}
          </Button>
        </div>
      )}
      {projectId !== null && shown !== null && shown.checkpoint_id !== null && (
        <FileChange
          projectId={projectId}
          path={shown.path}
          checkpointId={shown.checkpoint_id}
          onClose={() => setShown(null)}
        />
      )}
      {projectId !== null && isUndoing && (
        <UndoChanges
          projectId={projectId}
          messageId={messageId}
          onClose={() => setUndoing(false)}
        />
      )}
    </div>
  )
}

/** How a file differs from before the answer; if it is the same again by now, what the answer's first change did. */
function FileChange({
  projectId,
  path,
  checkpointId,
  onClose,
}: {
  projectId: string
  path: string
  checkpointId: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const now = useCheckpointDiff(projectId, checkpointId, 'now')
  const then = useCheckpointDiff(projectId, checkpointId, 'change')
  const find = (from: typeof now) =>
    from.data?.files.find((file) => file.path === path && file.diff !== '')
  const file = find(now) ?? find(then)
  const isPending = now.isPending || then.isPending
  return (
    <Dialog open onOpenChange={onClose} width="wide" title={path}>
      {isPending && <Loading />}
      {!isPending && file === undefined && (
        <p className="text-muted">{now.isError ? errorText(now.error) : t('history.same')}</p>
      )}
      {!isPending && file !== undefined && (
        <PartBoundary fallback={<Loading />}>
          <DiffView diff={file.diff} />
        </PartBoundary>
      )}
    </Dialog>
  )
}

/** Leads to a schedule by its name; once it is deleted, to the list that does not have it. */
function ScheduleLink({ id }: { id: string }) {
  const { t } = useTranslation()
  const { data: schedule } = useSchedule(id)
  return (
    <Link
      href={schedule == null ? paths.schedules : paths.schedule(id)}
      className="touch-target inline-flex max-w-full items-center text-accent underline-offset-3 hover:underline"
    >
      <span dir="auto" className="min-w-0 [overflow-wrap:anywhere]">
        {schedule?.name ?? t('schedules.title')}
      </span>
    </Link>
  )
}
