// Keeps a part of the page that breaks, or cannot be loaded, from taking the rest of the page with it.
import { RotateCw, TriangleAlert } from 'lucide-react'
import { Component, type ReactNode, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { FirstScreenReady } from '../../lib/browser/first-screen.tsx'
import { PartNotLoaded } from '../../lib/browser/load-part.ts'
import { useOffline } from '../../lib/offline/connection.ts'
import { classNames } from '../class-names.ts'
import { Button } from '../controls/button.tsx'
import { forgetFailedLoads } from './late.tsx'

type Props = {
  children: ReactNode
  /** Shown while the part loads. Without it, whatever is around the part waits. */
  fallback?: ReactNode
  /** Shown instead of the notice, for a part that the reader can do without. */
  instead?: ReactNode
  /** The part has no place of its own, such as a dialog: the notice appears over the page. */
  isOver?: boolean
  /** Closes what was opened; for parts that are open only for a while. */
  onClose?: () => void
  /** What the part shows: another one is drawn although the one before was broken. */
  subject?: unknown
}

type State = { failure: { error: unknown } | null }

/** Draws its children, or a notice with ways on where they have failed. What could not be loaded is loaded when the connection is back. */
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
