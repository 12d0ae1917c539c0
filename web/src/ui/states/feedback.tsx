// What a view shows while it loads, when it is empty and when it failed.
import { LoaderCircle, type LucideIcon, RotateCw, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../controls/button.tsx'

/** `size` in pixels. Screen readers skip it: put a text beside it. */
export function Spinner({ size = 16 }: { size?: number }) {
  return <LoaderCircle size={size} aria-hidden className="animate-spin text-muted" />
}

/** A spinner with its text, announced to screen readers, in the middle of the view. */
export function Loading() {
  const { t } = useTranslation()
  return (
    <div role="status" className="flex items-center justify-center gap-2 p-8 text-sm text-muted">
      <Spinner />
      {t('common.loading')}
    </div>
  )
}

/**
 * In place of an empty list; `children` is what the person can do about it. `isPage`: the page has nothing else, so the
 * title is its heading.
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

/** In place of what could not be loaded; without `onRetry` there is no button to try again. */
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
