// The notice that there is no connection, with the time at which the displayed messages were loaded.
import { WifiOff } from 'lucide-react'
import { fullTime } from '../lib/format.ts'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { useOffline } from '../lib/offline/connection.ts'
import { opensOffline } from '../lib/offline/offline.ts'

/** A live region above the page; empty while there is a connection. */
export function OfflineNotice() {
  const { t, i18n } = useTranslation()
  const { isOffline, copiedAt } = useOffline()
  const isShown = isOffline && opensOffline()
  return (
    <div role="status" className="shrink-0">
      {isShown && (
        <p className="flex items-center justify-center gap-2 border-b border-line bg-sunken px-3 py-1.5 text-center text-note text-soft">
          <WifiOff size={14} aria-hidden className="shrink-0" />
          <span>
            {t(navigator.onLine ? 'shell.unreachable' : 'shell.offline')}
            {copiedAt !== null &&
              ` ${t('shell.offlineCopy', { when: fullTime(copiedAt, i18n.language) })}`}
          </span>
        </p>
      )}
    </div>
  )
}
