// The states of a view: loading, empty, failed.
import { LoaderCircle, type LucideIcon, RotateCw, TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useOffline } from '../../lib/offline/connection.ts'
import { Button } from '../controls/button.tsx'

/** A spinner, `size` pixels wide. Screen readers skip it, so put a text next to it. */
export function Spinner({ size = 16 }: { size?: number }) {
  return <LoaderCircle size={size} aria-hidden className="animate-spin text-muted" />
}

/** Copies on this device appear sooner than that. */
const OFFLINE_NOTICE_MS = 2_000

/** A centred spinner with a text that screen readers announce. Without a connection, it says what it waits for. */
export function Loading() {
  const { t } = useTranslation()
  const isOffline = useOffline((store) => store.isOffline)
  const [isLong, setIsLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), OFFLINE_NOTICE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div
      role="status"
      className="flex items-center justify-center gap-2 p-8 text-sm text-balance text-muted"
    >
      <Spinner />
      {t(isOffline && isLong ? 'shell.offlineView' : 'common.loading')}
    </div>
  )
}

/**
 * Replaces an empty list; `children` contains what the user can do about it. With `isPage`, it is the whole page and its
 * title is the page's heading.
 */
export function Empty({
  icon: Icon,
  title,
  text,
  isPage = false,
  children,
}: {
  icon: LucideIcon
  title: string
  text?: string
  isPage?: boolean
  children?: ReactNode
}) {
  const Title = isPage ? 'h1' : 'p'
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <span className="mb-1 grid size-11 place-items-center rounded-2xl bg-sunken text-muted">
        <Icon size={20} aria-hidden />
      </span>
      <Title className="font-medium">{title}</Title>
      {text !== undefined && <p className="max-w-sm text-sm text-balance text-muted">{text}</p>}
      {children !== undefined && <div className="mt-3">{children}</div>}
    </div>
  )
}

/** Replaces content that failed to load. With `onRetry`, it has a button to try again. */
export function Failed({ message, onRetry }: { message: string; onRetry?: () => void }) {
  const { t } = useTranslation()
  return (
    <div role="alert" className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <TriangleAlert size={22} aria-hidden className="text-bad" />
      <p className="max-w-md text-sm text-soft">{message}</p>
      {onRetry !== undefined && (
        <Button size="small" icon={RotateCw} onClick={onRetry}>
          {t('common.retry')}
        </Button>
      )}
    </div>
  )
}
