// The layout of a group of settings.
import type { ReactNode } from 'react'

/** A heading with a text below it and a control next to both (`action`), then the settings (`children`). */
export function Section({
  title,
  text,
  action,
  children,
}: {
  title: string
  text?: string
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="mb-8">
      {/* On a phone, the text is below heading and control; next to the control it would be only a few words wide. */}
      <div className="mb-3 grid grid-cols-[1fr_auto] items-center gap-x-3 gap-y-0.5">
        <h2 className="text-base font-semibold tracking-tight">{title}</h2>
        <div className="empty:hidden sm:row-span-2">{action}</div>
        {text !== undefined && (
          <p className="col-span-2 text-sm text-muted sm:col-span-1 sm:row-start-2">{text}</p>
        )}
      </div>
      <div className="rounded-2xl border border-line bg-surface p-4">{children}</div>
    </section>
  )
}
