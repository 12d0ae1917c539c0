// Replaces a conversation that cannot be shown: it does not exist, or it failed to load.
import { CircleHelp, RotateCw, SquarePen, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { FirstScreenReady } from '../../lib/browser/first-screen.tsx'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useOffline } from '../../lib/offline/connection.ts'
import { opensOffline } from '../../lib/offline/offline.ts'
import { paths } from '../../lib/paths.ts'
import { Button, linkButtonClass } from '../../ui/controls/button.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Empty } from '../../ui/states/feedback.tsx'

/** `menu` is the button that shows the sidebar; `error` is the error of the request for the conversation. */
export function MissingConversation({
  menu,
  error,
  onRetry,
}: {
  menu: ReactNode
  error: Error
  onRetry: () => void
}) {
  const { t } = useTranslation()
  const { isOffline } = useOffline()
  const isGone = error instanceof ApiError && error.status === 404
  const reason = isOffline && opensOffline() ? t('shell.offlineMissing') : errorText(error)
  return (
    <>
      {menu !== null && <div className="flex h-13 shrink-0 items-center px-3">{menu}</div>}
      <div role={isGone ? undefined : 'alert'} className="m-auto overflow-y-auto">
        <Empty
          isPage
          icon={isGone ? CircleHelp : TriangleAlert}
          title={t(isGone ? 'conversation.notFound' : 'conversation.notLoaded')}
          text={isGone ? t('conversation.notFoundText') : reason}
        >
          <div className="flex flex-wrap justify-center gap-2">
            {!isGone && (
              <Button icon={RotateCw} onClick={onRetry}>
                {t('common.retry')}
              </Button>
            )}
            <Link href={paths.home} className={linkButtonClass}>
              <SquarePen size={16} aria-hidden />
              {t('shell.newChat')}
            </Link>
          </div>
        </Empty>
      </div>
      <FirstScreenReady />
    </>
  )
}
