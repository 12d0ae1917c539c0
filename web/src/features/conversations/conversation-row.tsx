// One conversation of the list: open, rename, pin, archive, move to the trash; marked when it is running or needs approval.

import {
  Archive,
  ArchiveRestore,
  Download,
  Ellipsis,
  PencilLine,
  Pin,
  PinOff,
  Share2,
  Tag,
  Trash2,
} from 'lucide-react'
import { memo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'wouter'
import type { Conversation } from '../../../../server/protocol/conversation.ts'
import { usePatchConversation } from '../../lib/api/conversations.ts'
import { useExport } from '../../lib/api/sharing.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { paths } from '../../lib/paths.ts'
import { isUnread, useSeen } from '../../lib/seen-conversations.ts'
import { classNames } from '../../ui/class-names.ts'
import { Menu, MenuHeading, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { showDialog } from './shown-dialog.ts'
import { useChangeWithUndo } from './use-change-with-undo.ts'

const EXPORT_FORMATS = ['md', 'html', 'json'] as const

export const ConversationRow = memo(function ConversationRow({
  conversation,
  active,
  onOpened,
}: {
  conversation: Conversation
  active: boolean
  onOpened: () => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const patch = usePatchConversation()
  const change = useChangeWithUndo()
  const exported = useExport()
  const [renaming, setRenaming] = useState(false)
  const { id, pinned, archived } = conversation
  const unread = useSeen((seen) => isUnread(seen, conversation)) && !active
  const title = conversationTitle(conversation.title, t)

  if (renaming)
    return (
      <li>
        <input
          // biome-ignore lint/a11y/noAutofocus: the person has just asked to rename
          autoFocus
          dir="auto"
          defaultValue={conversation.title}
          maxLength={255}
          aria-label={t('conversation.rename')}
          className="h-9 w-full rounded-lg border border-accent bg-surface px-2.5 text-sm outline-offset-0"
          onFocus={(event) => event.target.select()}
          onBlur={(event) => {
            const next = event.target.value.trim()
            if (next !== '' && next !== conversation.title) patch.mutate({ id, title: next })
            setRenaming(false)
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return
            if (event.key === 'Enter') event.currentTarget.blur()
            if (event.key === 'Escape') {
              event.currentTarget.value = conversation.title
              event.currentTarget.blur()
            }
          }}
        />
      </li>
    )
  return (
    <li className="list-row group/row relative">
      <Link
        href={paths.conversation(id)}
        aria-current={active ? 'page' : undefined}
        className={classNames(
          'flex h-9 items-center gap-2 rounded-lg pr-9 pointer-coarse:h-11 pointer-coarse:pr-12 pl-2.5 text-sm -outline-offset-2',
          active ? 'bg-hover' : 'hover:bg-hover/60',
          active || unread ? 'font-medium text-ink' : 'text-soft',
        )}
        onClick={onOpened}
      >
        <span dir="auto" title={title} className="min-w-0 flex-1 truncate text-start">
          {title}
        </span>
        <RunMark conversation={conversation} unread={unread} />
      </Link>
      <Menu
        align="end"
        trigger={
          <button
            type="button"
            aria-label={t('conversation.actions', { title })}
            className="absolute top-1 right-1 grid size-7 pointer-coarse:top-0 pointer-coarse:right-0 place-items-center rounded-md text-muted opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 hover:bg-line hover:text-ink focus-visible:opacity-100 data-[state=open]:opacity-100 [@media(hover:none)]:opacity-100"
          >
            <Ellipsis size={16} aria-hidden />
          </button>
        }
      >
        <MenuItem icon={PencilLine} onSelect={() => setTimeout(() => setRenaming(true), 0)}>
          {t('conversation.rename')}
        </MenuItem>
        <MenuItem
          icon={pinned ? PinOff : Pin}
          onSelect={() => patch.mutate({ id, pinned: !pinned })}
        >
          {t(pinned ? 'conversation.unpin' : 'conversation.pin')}
        </MenuItem>
        <MenuItem
          icon={archived ? ArchiveRestore : Archive}
          onSelect={() => change([id], archived ? 'unarchive' : 'archive')}
        >
          {t(archived ? 'conversation.unarchive' : 'conversation.archive')}
        </MenuItem>
        <MenuItem icon={Tag} onSelect={() => showDialog('tags', id)}>
          {t('conversations.tags')}
        </MenuItem>
        <MenuItem icon={Share2} onSelect={() => showDialog('share', id)}>
          {t('conversation.share')}
        </MenuItem>
        <MenuSeparator />
        <MenuHeading>{t('conversation.export')}</MenuHeading>
        {EXPORT_FORMATS.map((format) => (
          <MenuItem key={format} icon={Download} onSelect={() => exported.mutate({ id, format })}>
            {t(`conversation.exportAs.${format}`)}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem
          icon={Trash2}
          danger
          onSelect={() => change([id], 'delete', () => active && navigate(paths.home))}
        >
          {t('common.delete')}
        </MenuItem>
      </Menu>
    </li>
  )
})

function RunMark({ conversation, unread }: { conversation: Conversation; unread: boolean }) {
  const { t } = useTranslation()
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
