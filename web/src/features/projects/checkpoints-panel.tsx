// The history of a project: each checkpoint with its time, tool and files, to compare and restore.
import { History, MessageSquare, RotateCcw, SquareSplitHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Checkpoint } from '../../../../server/protocol/projects/project.ts'
import {
  checkpointsKey,
  useCheckpointDiff,
  useCheckpoints,
  useRestore,
} from '../../lib/api/checkpoints.ts'
import { useMayChange } from '../../lib/api/projects.ts'
import { readRun } from '../../lib/api/runs.ts'
import { fullTime } from '../../lib/format.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { toolTitle } from '../../lib/tool-title.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { ShowMore } from '../../ui/controls/show-more.tsx'
import { ConfirmDialog, Dialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText, reportError } from '../../ui/states/error-text.ts'
import { Empty, Failed, Loading } from '../../ui/states/feedback.tsx'
import { lazyPart } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'

const DiffView = lazyPart(() =>
  import('../../ui/code/diff-view.tsx').then((module) => module.DiffView),
)

const CHANGE_MARKS = { added: '+', modified: '~', deleted: '−' } as const
const CHANGE_TONES = { added: 'text-ok', modified: 'text-warn', deleted: 'text-bad' } as const
const SHOWN_FILES = 4

/**
 * A tab of the project. Restoring creates a checkpoint, so it can be undone. With `isOwn`, all changes are of the conversation
 * that is open already.
 */
export function CheckpointsPanel({ projectId, isOwn }: { projectId: string; isOwn: boolean }) {
  const { t } = useTranslation()
  const list = useCheckpoints(projectId)
  const mayChange = useMayChange(projectId)
  const restore = useRestore(projectId)
  const [compared, setCompared] = useState<string | null>(null)
  const [restoring, setRestoring] = useState<string | null>(null)
  const [, navigate] = useLocation()
  /** Opens the conversation whose answer made the change. */
  const openChat = async (runId: string): Promise<void> => {
    try {
      navigate(paths.conversation((await readRun(runId)).conversation_id))
    } catch (error) {
      reportError(error)
    }
  }
  if (list.isPending) return <Loading />
  if (list.isLoadingError)
    return <Failed message={errorText(list.error)} onRetry={() => void list.refetch()} />
  const checkpoints = list.data.pages.flatMap(({ items }) => items)
  if (checkpoints.length === 0)
    return <Empty icon={History} title={t('history.empty')} text={t('history.emptyText')} />
  return (
    <div className="mx-auto max-w-2xl px-4 py-4">
      <ol className="relative flex flex-col gap-5 border-s-2 border-line ps-5">
        {checkpoints.map((checkpoint) => (
          <Entry
            key={checkpoint.id}
            checkpoint={checkpoint}
            onCompare={() => setCompared(checkpoint.id)}
            onRestore={mayChange ? () => setRestoring(checkpoint.id) : null}
            onOpenChat={isOwn ? null : (runId) => void openChat(runId)}
          />
        ))}
      </ol>
      <ShowMore list={list} queryKey={checkpointsKey(projectId)} />
      {compared !== null && (
        <Compare projectId={projectId} checkpointId={compared} onClose={() => setCompared(null)} />
      )}
      <ConfirmDialog
        open={restoring !== null}
        onOpenChange={() => setRestoring(null)}
        title={t('history.restoreTitle')}
        text={t('history.restoreText')}
        confirm={t('history.restore')}
        onConfirm={() =>
          restoring !== null &&
          restore.mutate(
            { checkpointId: restoring },
            {
              onSuccess: ({ restored }) =>
                notify(t('history.restored', { count: restored }), 'success'),
            },
          )
        }
      />
    </div>
  )
}

function Entry({
  checkpoint,
  onCompare,
  onRestore,
  onOpenChat,
}: {
  checkpoint: Checkpoint
  onCompare: () => void
  /** Null for somebody who may not change the project. */
  onRestore: (() => void) | null
  onOpenChat: ((runId: string) => void) | null
}) {
  const { t, i18n } = useTranslation()
  const { files, file_count: fileCount } = checkpoint
  return (
    <li className="relative">
      <span
        aria-hidden
        className="absolute top-1.5 -start-[26px] size-2.5 rounded-full border-2 border-paper bg-accent"
      />
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <span className="font-medium">{toolTitle(checkpoint.tool, t)}</span>
        <time dateTime={checkpoint.created_at} className="text-note text-muted">
          {fullTime(checkpoint.created_at, i18n.language)}
        </time>
      </p>
      <ul className="mt-1 font-mono text-code">
        {files.slice(0, SHOWN_FILES).map(({ path, change }) => (
          <li key={path} className="flex gap-2">
            <span className={CHANGE_TONES[change]} title={t(`history.${change}`)}>
              {CHANGE_MARKS[change]}
              <span className="sr-only">{t(`history.${change}`)}</span>
            </span>
            <span className="min-w-0 truncate">{path}</span>
          </li>
        ))}
        {fileCount > SHOWN_FILES && (
          <li className="text-muted">{t('history.more', { count: fileCount - SHOWN_FILES })}</li>
        )}
      </ul>
      <div className="mt-1.5 -ms-2 flex flex-wrap gap-1">
        <Button size="small" tone="quiet" icon={SquareSplitHorizontal} onClick={onCompare}>
          {t('history.compare')}
        </Button>
        {onRestore !== null && (
          <Button size="small" tone="quiet" icon={RotateCcw} onClick={onRestore}>
            {t('history.restore')}
          </Button>
        )}
        {checkpoint.run_id !== null && onOpenChat !== null && (
          <Button
            size="small"
            tone="quiet"
            icon={MessageSquare}
            onClick={() => onOpenChat(checkpoint.run_id ?? '')}
          >
            {t('history.openChat')}
          </Button>
        )}
      </div>
    </li>
  )
}

function Compare({
  projectId,
  checkpointId,
  onClose,
}: {
  projectId: string
  checkpointId: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [against, setAgainst] = useState<'change' | 'now'>('change')
  const compared = useCheckpointDiff(projectId, checkpointId, against)
  const changed = compared.data?.files.filter(({ diff }) => diff !== '') ?? []
  return (
    <Dialog
      open
      onOpenChange={onClose}
      width="wide"
      title={t('history.compare')}
      description={t('history.compareText')}
    >
      <div className="mb-3">
        <Segmented
          label={t('history.against')}
          value={against}
          options={[
            { value: 'change', label: t('history.change') },
            { value: 'now', label: t('history.now') },
          ]}
          onChange={setAgainst}
        />
      </div>
      {compared.isPending && <Loading />}
      {compared.isError && <Failed message={errorText(compared.error)} />}
      {compared.isSuccess && changed.length === 0 && (
        <Empty icon={History} title={t('history.same')} />
      )}
      <PartBoundary fallback={<Loading />}>
        <div className="flex flex-col gap-3">
          {changed.map(({ path, diff }) => (
            <DiffView key={path} diff={diff} />
          ))}
        </div>
      </PartBoundary>
      {compared.isSuccess && compared.data.file_count > changed.length && (
        <p className="mt-3 text-sm text-muted">
          {t('history.more', { count: compared.data.file_count - changed.length })}
        </p>
      )}
    </Dialog>
  )
}
