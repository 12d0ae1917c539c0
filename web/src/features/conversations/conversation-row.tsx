// A conversation in the list: open, rename, pin, archive, move to the trash; marked if its run is active or waits for
// approval.

import type { TFunction } from 'i18next'
import { Ellipsis } from 'lucide-react'
import { memo, useState } from 'react'
import { Link } from 'wouter'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { usePatchConversation } from '../../lib/api/conversations.ts'
import { isComposing } from '../../lib/browser/composing.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { isUnread, useSeen } from '../../lib/preferences/seen-conversations.ts'
import { classNames } from '../../ui/class-names.ts'
import { Menu } from '../../ui/overlays/menu.tsx'
import { ConversationActions } from './conversation-actions.tsx'

/** Memoized, so that a long list stays fast. */
export const ConversationRow = memo(function ConversationRow({
  conversation,
  active,
  isTabStop,
  onOpened,
  onMove,
}: {
  conversation: Conversation
  active: boolean
  /** Whether Tab reaches this row; arrow keys reach the others. */
  isTabStop: boolean
  onOpened: () => void
  /** Moves a pinned conversation by some positions; absent if there is no other to move past. */
  onMove?: (id: string, places: number) => void
}) {
  const { t } = useTranslation()
  const [renaming, setRenaming] = useState(false)
  const { id } = conversation
  const unread = useSeen((seen) => isUnread(seen, conversation)) && !active
  const title = conversationTitle(conversation.title, t)

  if (renaming) return <RenameField conversation={conversation} onDone={() => setRenaming(false)} />
  return (
    <>
      <Link
        href={paths.conversation(id)}
        aria-current={active ? 'page' : undefined}
        tabIndex={isTabStop ? 0 : -1}
        className={classNames(
          'flex h-9 items-center gap-2 rounded-lg pe-2.5 group-focus-within/row:pe-9 group-hover/row:pe-9 has-[+[data-state=open]]:pe-9 [@media(hover:none)_and_(not_(pointer:coarse))]:pe-9 pointer-coarse:h-11 pointer-coarse:pe-12 ps-2.5 text-sm -outline-offset-2',
          active ? 'bg-hover' : 'hover:bg-hover/60',
          active || unread ? 'font-medium text-ink' : 'text-soft',
        )}
        onClick={onOpened}
      >
        <span dir="auto" title={title} className="min-w-0 flex-1 truncate text-start">
          {title}
        </span>
        <RunMark conversation={conversation} unread={unread} t={t} />
      </Link>
      <Menu
        align="end"
        trigger={
          <button
            type="button"
            tabIndex={isTabStop ? 0 : -1}
            aria-label={t('conversation.actions', { title })}
            className="absolute top-1 end-1 grid size-7 pointer-coarse:top-0 pointer-coarse:end-0 place-items-center rounded-md text-muted opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 hover:bg-line hover:text-ink focus-visible:opacity-100 data-[state=open]:opacity-100 [@media(hover:none)]:opacity-100"
          >
            <Ellipsis size={16} aria-hidden />
          </button>
        }
      >
        <ConversationActions
          conversation={conversation}
          active={active}
          onRename={() => setTimeout(() => setRenaming(true), 0)}
          {...(onMove === undefined ? {} : { onMove })}
        />
      </Menu>
    </>
  )
})

function RenameField({ conversation, onDone }: { conversation: Conversation; onDone: () => void }) {
  const { t } = useTranslation()
  const patch = usePatchConversation()
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the user has just asked to rename
      autoFocus
      dir="auto"
      defaultValue={conversation.title}
      maxLength={255}
      aria-label={t('conversation.rename')}
      className="h-9 w-full rounded-lg border border-accent bg-surface px-2.5 text-sm outline-offset-0"
      onFocus={(event) => event.target.select()}
      onBlur={(event) => {
        const next = event.target.value.trim()
        if (next !== '' && next !== conversation.title)
          patch.mutate({ id: conversation.id, title: next })
        onDone()
      }}
      onKeyDown={(event) => {
        if (isComposing(event.nativeEvent)) return
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') {
          event.currentTarget.value = conversation.title
          event.currentTarget.blur()
        }
      }}
    />
  )
}

function RunMark({
  conversation,
  unread,
  t,
}: {
  conversation: Conversation
  unread: boolean
  t: TFunction
}) {
  if (conversation.active_run_id === null)
    return unread ? (
      <span title={t('conversation.unread')} className="flex shrink-0 items-center">
        <span className="sr-only">{t('conversation.unread')}</span>
        <span aria-hidden className="size-2 rounded-full bg-accent" />
      </span>
    ) : null
  const status = conversation.active_run_status
  const waits = status === 'awaiting_approval' || status === 'awaiting_input'
  const waitLabel = status === 'awaiting_input' ? 'conversation.waitsInput' : 'conversation.waits'
  const label = t(waits ? waitLabel : 'conversation.runs')
  return (
    <span title={label} className="flex shrink-0 items-center">
      <span className="sr-only">{label}</span>
      <span
        aria-hidden
        className={classNames(
          'size-2 rounded-full',
          waits ? 'bg-warn' : 'animate-breathe bg-accent',
        )}
      />
    </span>
  )
}
