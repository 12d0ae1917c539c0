// Messages that were written without a connection and start a conversation each, shown above the composer of the home page.
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { QueuedMessages } from './queue-list.tsx'
import { NEW_CONVERSATIONS } from './queued-messages.ts'

/** They are sent, each as a new conversation, when the connection is back. */
export function OfflineMessages() {
  const { t } = useTranslation()
  return (
    <QueuedMessages
      queueOf={NEW_CONVERSATIONS}
      status={t('queue.offline')}
      running={false}
      onStop={() => Promise.resolve()}
    />
  )
}
