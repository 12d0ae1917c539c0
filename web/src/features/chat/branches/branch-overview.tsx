// A dialog with the branches of a conversation as a tree: beginning, model and time of each. Choosing one shows it.
import { Bot, User } from 'lucide-react'
import { type KeyboardEvent, useRef } from 'react'
import { useLocation } from 'wouter'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useBranches } from '../../../lib/api/branches.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { fullTime, shortTime } from '../../../lib/format.ts'
import { shownDirection } from '../../../lib/i18n/direction.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { classNames } from '../../../ui/class-names.ts'
import { plainPreview } from '../../../ui/markdown/plain-preview.ts'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { setComparison } from '../compare/comparisons.ts'
import { inTreeOrder, type PlacedBranch } from './branch-order.ts'
import { showBranches } from './shown-branches.ts'

/** Deeper branches are not indented further. */
const MAX_INDENT = 8

const close = (): void => showBranches(false)

/** `onShow` receives the id of the message whose branch the user chose. */
export function BranchOverview({
  conversationId,
  locked,
  onShow,
}: {
  conversationId: string
  /** Whether a run is active: the branch must not change. */
  locked: boolean
  onShow: (id: MessageId) => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const branches = useBranches(conversationId)
  const choose = (id: MessageId): void => {
    if (locked) return
    close()
    setComparison(conversationId, null)
    onShow(id)
    navigate(paths.messageIn(conversationId, id, []))
  }
  return (
    <Dialog
      open
      onOpenChange={close}
      title={t('branches.title')}
      description={t(locked ? 'branches.locked' : 'branches.text')}
    >
      {branches.isPending ? (
        <Loading />
      ) : branches.isLoadingError ? (
        <Failed message={errorText(branches.error)} onRetry={() => void branches.refetch()} />
      ) : branches.data.items.length < 2 ? (
        <p className="p-6 text-center text-sm text-muted">{t('branches.none')}</p>
      ) : (
        <>
          {branches.data.truncated && (
            <p className="pb-2 text-xs text-muted">
              {t('branches.newest', { count: branches.data.items.length })}
            </p>
          )}
          <Tree
            branches={inTreeOrder(branches.data.items)}
            label={t('branches.title')}
            locked={locked}
            onChoose={choose}
          />
        </>
      )}
    </Dialog>
  )
}

function Tree({
  branches,
  label,
  locked,
  onChoose,
}: {
  branches: readonly PlacedBranch[]
  label: string
  locked: boolean
  onChoose: (id: MessageId) => void
}) {
  const tree = useRef<HTMLDivElement>(null)
  const last = branches.findLastIndex(({ shown }) => shown)
  const onKeyDown = (event: KeyboardEvent): void => {
    const items = [...(tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]') ?? [])]
    const at = items.findIndex((item) => item.matches(':focus'))
    const depth = branches[at]?.depth ?? 0
    const isMirrored = shownDirection() === 'rtl'
    const places: Partial<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: items.length - 1,
      // Outward: the branch that this one forks from. Inward: the first branch that forks from this one.
      [isMirrored ? 'ArrowRight' : 'ArrowLeft']: branches
        .slice(0, Math.max(0, at))
        .findLastIndex((one) => one.depth < depth),
      [isMirrored ? 'ArrowLeft' : 'ArrowRight']:
        (branches[at + 1]?.depth ?? 0) > depth ? at + 1 : -1,
    }
    const place = places[event.key]
    if (place === undefined) return
    event.preventDefault()
    items[place]?.focus()
  }
  return (
    <div
      ref={tree}
      role="tree"
      tabIndex={-1}
      aria-label={label}
      aria-disabled={locked}
      className="-mx-2 flex flex-col gap-0.5"
      onKeyDown={onKeyDown}
    >
      {branches.map((branch, index) => (
        <Item
          key={branch.message_id}
          branch={branch}
          isEntry={index === Math.max(0, last)}
          locked={locked}
          onChoose={() => onChoose(branch.message_id)}
        />
      ))}
    </div>
  )
}

function Item({
  branch,
  isEntry,
  locked,
  onChoose,
}: {
  branch: PlacedBranch
  /** Whether the Tab key enters the tree at this item. */
  isEntry: boolean
  locked: boolean
  onChoose: () => void
}) {
  const { t, i18n } = useTranslation()
  const { data: models } = useModels()
  const { depth, role, shown, text, model, created_at: createdAt, messages } = branch
  // A user message is not Markdown.
  const words = role === 'user' ? text.trim() : plainPreview(text)
  const Icon = role === 'user' ? User : Bot
  const facts = [
    model === null ? null : (models?.find(({ id }) => id === model)?.name ?? model),
    t('branches.messages', { count: messages }),
  ].filter((fact) => fact !== null)
  return (
    <button
      type="button"
      role="treeitem"
      aria-level={depth}
      aria-selected={shown}
      aria-disabled={locked}
      tabIndex={isEntry ? 0 : -1}
      ref={isEntry ? focusOnce : undefined}
      style={{ marginInlineStart: `${(Math.min(depth, MAX_INDENT) - 1) * 1.1}rem` }}
      className={classNames(
        'flex items-start gap-2.5 rounded-lg border-s-2 px-2.5 py-2 text-start hover:bg-hover aria-disabled:opacity-60 pointer-coarse:min-h-11',
        shown ? 'border-accent bg-accent-soft' : 'border-line',
      )}
      onClick={onChoose}
    >
      <Icon
        size={15}
        aria-label={t(role === 'user' ? 'message.yours' : 'message.answer')}
        className={classNames('mt-0.5 shrink-0', shown ? 'text-accent' : 'text-muted')}
      />
      <span className="min-w-0 flex-1">
        <span dir="auto" className="line-clamp-2 text-sm [overflow-wrap:anywhere]">
          {words === '' ? t('branches.noText') : words}
        </span>
        <span className="mt-0.5 block text-xs text-muted tabular-nums">
          {facts.join(' · ')} ·{' '}
          <time dateTime={createdAt} title={fullTime(createdAt, i18n.language)}>
            {shortTime(createdAt, i18n.language)}
          </time>
          {shown && <span className="text-accent"> · {t('branches.shown')}</span>}
        </span>
      </span>
    </button>
  )
}

/** Focuses the item on mount; the dialog would focus its close button. */
const focusOnce = (item: HTMLButtonElement | null): void => {
  if (item === null || item.dataset.focused !== undefined) return
  item.dataset.focused = ''
  setTimeout(() => item.focus(), 0)
}
