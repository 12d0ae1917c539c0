// The placeholder of a conversation while it loads, with the same layout so that nothing jumps.
import type { ReactNode } from 'react'
import { useTranslation } from '../lib/i18n/use-translation.tsx'

const barClass = 'skeleton-bar rounded-full bg-hover'

/** `menu` is the button that shows the sidebar. */
export function ChatSkeleton({ menu }: { menu: ReactNode }) {
  const { t } = useTranslation()
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div role="status" className="sr-only">
        {t('common.loading')}
      </div>
      <header className="flex h-13 shrink-0 items-center gap-3 px-3 short:h-10">
        {menu}
        <span aria-hidden className={`h-3.5 w-44 ${barClass}`} />
      </header>
      <div
        aria-hidden
        className="mx-auto flex w-full max-w-3xl min-h-0 flex-1 flex-col gap-4 overflow-hidden px-5 pt-6 max-sm:px-4"
      >
        <span className={`h-11 w-2/5 self-end ${barClass}`} />
        <span className={`h-3.5 w-11/12 ${barClass}`} />
        <span className={`h-3.5 w-4/5 ${barClass}`} />
        <span className={`h-3.5 w-3/5 ${barClass}`} />
      </div>
      <div
        aria-hidden
        className="mx-auto w-full max-w-3xl shrink-0 px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-5 sm:pb-[max(1rem,env(safe-area-inset-bottom))]"
      >
        <div className="boot-box" />
      </div>
    </div>
  )
}
