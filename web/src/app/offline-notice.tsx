// The notice that there is no connection, and what still works without one.
import { WifiOff } from 'lucide-react'
import { fullTime } from '../lib/format.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { useOffline } from '../lib/offline/connection.ts'
import { opensOffline } from '../lib/offline/offline.ts'

/**
 * A live region above the page; empty while there is a connection. Where this browser stores nothing, as over plain HTTP from
 * another machine, there is nothing to read, but what is written is still sent later.
 */
export function OfflineNotice() {
  const { t, i18n } = useTranslation()
  const { isOffline, copiedAt } = useOffline()
  const reason = !opensOffline()
    ? 'shell.unreachableUnsaved'
    : navigator.onLine
      ? 'shell.unreachable'
      : 'shell.offline'
  return (
    <div role="status" className="shrink-0">
      {isOffline && (
        <p className="flex items-center justify-center gap-2 border-b border-line bg-sunken px-3 py-1.5 text-center text-note text-soft">
          <WifiOff size={14} aria-hidden className="shrink-0" />
          <span>
            {t(reason)}
            {copiedAt !== null &&
              ` ${t('shell.offlineCopy', { when: fullTime(copiedAt, i18n.language) })}`}
          </span>
        </p>
      )}
    </div>
  )
}
