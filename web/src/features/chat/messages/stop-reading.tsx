// The button that stops reading an answer aloud, shown while it is read.
import { Square } from 'lucide-react'
import { useEffect } from 'react'
import { stopReading, useReading } from '../../../lib/browser/read-aloud.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'

/** Nothing while another text or none is read. Reading stops when the answer leaves the page. */
export function StopReading({ messageId }: { messageId: string }) {
  const { t } = useTranslation()
  const isRead = useReading(({ id }) => id === messageId)
  useEffect(
    () => () => {
      if (useReading.getState().id === messageId) stopReading()
    },
    [messageId],
  )
  if (!isRead) return null
  return <ActionButton icon={Square} label={t('answer.stopReading')} onClick={stopReading} />
}
