// An error boundary for a part of the page: if it throws or its code fails to load, the rest keeps working.
import { RotateCw, TriangleAlert } from 'lucide-react'
import { Component, type ReactNode, Suspense } from 'react'
import { FirstScreenReady } from '../../lib/browser/first-screen.tsx'
import { PartNotLoaded } from '../../lib/browser/load-part.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useOffline } from '../../lib/offline/connection.ts'
import { classNames } from '../class-names.ts'
import { Button } from '../controls/button.tsx'
import { forgetFailedLoads } from './late.tsx'

type Props = {
  children: ReactNode
  /** Shown while the part loads. Without it, the surrounding boundary waits. */
  fallback?: ReactNode
  /** Replaces the notice, for a part that is not essential. */
  instead?: ReactNode
  /** Shows the notice over the page, for a part such as a dialog that has no place in the layout. */
  isOver?: boolean
  /** Adds a button that closes the part, for parts such as dialogs. */
  onClose?: () => void
  /** Identifies the content: when it changes, a broken part is rendered again. */
  subject?: unknown
}

type State = { failure: { error: unknown } | null }

/** Renders its children, or a notice with a retry button if they fail. Code that failed to load is loaded again once the connection is back. */
export class PartBoundary extends Component<Props, State> {
  override state: State = { failure: null }
  private stopWaiting = (): void => undefined

  static getDerivedStateFromError(error: unknown): State {
    return { failure: { error } }
  }

  override componentDidCatch(error: unknown): void {
    if (!(error instanceof PartNotLoaded)) return
    this.stopWaiting()
    this.stopWaiting = useOffline.subscribe(({ isOffline }) => {
      if (!isOffline) this.retry()
    })
  }

  override componentDidUpdate({ subject }: Props): void {
    if (this.state.failure !== null && subject !== this.props.subject) this.retry()
  }

  override componentWillUnmount(): void {
    this.stopWaiting()
  }

  private readonly retry = (): void => {
    this.stopWaiting()
    forgetFailedLoads()
    this.setState({ failure: null })
  }

  override render(): ReactNode {
    const { children, fallback, instead, isOver = false, onClose } = this.props
    if (this.state.failure !== null)
      return instead === undefined ? (
        <BrokenNotice isOver={isOver} onRetry={this.retry} onClose={onClose} />
      ) : (
        instead
      )
    return fallback === undefined ? children : <Suspense fallback={fallback}>{children}</Suspense>
  }
}

function BrokenNotice({
  isOver,
  onRetry,
  onClose,
}: {
  isOver: boolean
  onRetry: () => void
  onClose: (() => void) | undefined
}) {
  const { t } = useTranslation()
  return (
    <div
      role="alert"
      className={classNames(
        'flex flex-wrap items-center gap-2 rounded-xl border border-line bg-surface px-3 py-2.5 text-sm text-soft',
        isOver
          ? 'fixed inset-x-3 bottom-3 z-60 mx-auto max-w-lg shadow-float'
          : 'mx-auto my-2 w-[calc(100%-1rem)] max-w-2xl',
      )}
    >
      <TriangleAlert size={16} aria-hidden className="shrink-0 text-bad" />
      <span className="min-w-40 flex-1">{t('errors.part')}</span>
      <Button size="small" icon={RotateCw} onClick={onRetry}>
        {t('common.retry')}
      </Button>
      <Button size="small" tone="quiet" onClick={() => location.reload()}>
        {t('errors.reload')}
      </Button>
      {onClose !== undefined && (
        <Button size="small" tone="quiet" onClick={onClose}>
          {t('common.close')}
        </Button>
      )}
      <FirstScreenReady />
    </div>
  )
}
