// The header of a conversation: its title, its project and its settings.

import { Ghost, SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { useCommand } from '../../lib/commands.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { lazyPart } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'
import { useRemoveOnLeave } from './use-remove-on-leave.ts'

const ChatSettings = lazyPart(() =>
  import('./chat-settings.tsx').then((module) => module.ChatSettings),
)

/**
 * `leading` is placed before the title (the sidebar button), `children` after it (the project picker and menus of other
 * features).
 */
export function ChatHeader({
  conversation,
  leading,
  isWide,
  titleMenu,
  children,
}: {
  conversation: Conversation
  leading?: ReactNode
  /** Whether it has room for a button of its settings; otherwise the menu in `children` opens them. */
  isWide: boolean
  /** Turns the title into the button of a menu. */
  titleMenu?: (title: string) => ReactNode
  children?: ReactNode
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  useRemoveOnLeave(conversation)
  useCommand('conversationSettings', () => setOpen(true))
  const title = conversationTitle(conversation.title, t)
  return (
    <header className="flex h-13 shrink-0 items-center gap-1 px-3 short:h-10">
      {leading}
      <h1
        dir="auto"
        title={title}
        className={classNames(
          'min-w-0 flex-1 px-1.5 text-[0.9375rem] leading-tight font-medium',
          titleMenu === undefined &&
            'line-clamp-1 [overflow-wrap:anywhere] max-sm:line-clamp-2 max-sm:text-sm',
        )}
      >
        {titleMenu?.(title) ?? title}
      </h1>
      {conversation.temporary && (
        <span
          title={t('home.temporaryText')}
          className="flex h-7 shrink-0 items-center gap-1.5 rounded-full bg-accent-soft px-2.5 text-note font-medium text-accent"
        >
          <Ghost size={13} aria-hidden />
          {t('home.temporary')}
        </span>
      )}
      {children}
      {isWide && (
        <IconButton
          icon={SlidersHorizontal}
          label={t('chatSettings.title')}
          onClick={() => setOpen(true)}
        />
      )}
      {open && (
        <PartBoundary fallback={null} isOver onClose={() => setOpen(false)}>
          <ChatSettings conversation={conversation} onClose={() => setOpen(false)} />
        </PartBoundary>
      )}
    </header>
  )
}
