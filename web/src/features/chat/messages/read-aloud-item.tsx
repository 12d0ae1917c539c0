// The item of an answer's menu that reads it aloud. Nothing where neither the server nor the browser can.
import { AudioLines, Square } from 'lucide-react'
import { useQuota } from '../../../lib/api/quota.ts'
import { speak } from '../../../lib/api/speech.ts'
import {
  canReadAloud,
  readAloud,
  stopReading,
  useReading,
} from '../../../lib/browser/read-aloud.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { MenuItem } from '../../../ui/overlays/menu.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { spokenText } from './spoken-text.ts'

/** Reads with the server's service where it has one; pressed again, it stops. */
export function ReadAloudItem({ messageId }: { messageId: string }) {
  const { t, i18n } = useTranslation()
  const { data: quota } = useQuota()
  const isRead = useReading(({ id }) => id === messageId)
  const hasService = quota?.speech.speak === true
  if (!hasService && !canReadAloud) return null
  const read = (): void => {
    const text = spokenText(messageId)
    readAloud({ id: messageId, text }, i18n.language, hasService ? speak : null, (error) =>
      notify(errorText(error), 'error'),
    )
  }
  return (
    <MenuItem icon={isRead ? Square : AudioLines} onSelect={isRead ? stopReading : read}>
      {t(isRead ? 'answer.stopReading' : 'answer.readAloud')}
    </MenuItem>
  )
}
