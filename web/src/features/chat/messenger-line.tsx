// The chat at a messenger that a conversation belongs to: where it is, with whom, and that nothing written here goes there.
import { MessageCircle } from 'lucide-react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Facts } from '../../ui/facts.tsx'

const NAMES: Readonly<Record<string, string>> = { telegram: 'Telegram', slack: 'Slack' }

/** Nothing for a conversation of the page. */
export function MessengerLine({ channel }: { channel: Conversation['channel'] }) {
  const { t } = useTranslation()
  if (channel === undefined) return null
  const { name, type, chat_name: chat } = channel
  const kind = NAMES[type]
  return (
    <aside
      aria-label={t('messengerChat.line')}
      className="shrink-0 border-line border-b py-2 text-sm max-sm:py-1"
    >
      <div className="mx-auto flex max-w-3xl flex-wrap items-center gap-x-3 px-5 max-sm:px-4">
        <span className="inline-flex min-w-0 max-w-full items-center gap-2 font-medium">
          <MessageCircle size={15} aria-hidden className="shrink-0 text-muted" />
          <span dir="auto" className="truncate">
            <Facts
              of={[...(kind === undefined ? [] : [kind]), name, ...(chat === '' ? [] : [chat])]}
            />
          </span>
        </span>
        <span className="text-note text-muted">{t('messengerChat.stays')}</span>
      </div>
    </aside>
  )
}
