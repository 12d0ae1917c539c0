// The layout of a group of settings.
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import type { SettingsSection } from '../../lib/settings-sections.ts'
import { classNames } from '../../ui/class-names.ts'

/** What the title of the page says already: a section of the same name does not show it again. */
export const PageTitle = createContext<string | null>(null)

/**
 * A heading with a text below it and a control next to both (`action`), then the settings (`children`). If the URL names the
 * section by its `id`, it is scrolled into view and its heading gets the focus.
 */
export function Section({
  id,
  title,
  text,
  action,
  children,
}: {
  id?: SettingsSection
  title: string
  text?: string
  action?: ReactNode
  children: ReactNode
}) {
  const [search] = useSearchParams()
  const heading = useRef<HTMLHeadingElement>(null)
  const isSaid = useContext(PageTitle) === title
  const isNamed = id !== undefined && search.get('section') === id
  useEffect(
    () => (isNamed && heading.current !== null ? keepInView(heading.current) : undefined),
    [isNamed],
  )
  return (
    <section className="mb-8">
      {/* On a phone, the text is below heading and control; next to the control it would be only a few words wide. */}
      <div
        className={classNames(
          'mb-3 items-center gap-x-3',
          isSaid ? 'flex flex-wrap gap-y-3' : 'grid grid-cols-[1fr_auto] gap-y-0.5',
        )}
      >
        <h2
          ref={heading}
          tabIndex={-1}
          className={
            isSaid ? 'sr-only' : 'scroll-mt-6 text-base font-semibold tracking-tight outline-none'
          }
        >
          {title}
        </h2>
        <div className={classNames('empty:hidden sm:row-span-2', isSaid && 'order-last')}>
          {action}
        </div>
        {text !== undefined && (
          <p className="col-span-2 text-sm text-muted sm:col-span-1 sm:row-start-2">{text}</p>
        )}
      </div>
      <div className="rounded-2xl border border-line bg-surface p-4">{children}</div>
    </section>
  )
}

/**
 * Focuses the heading and scrolls it into view, again whenever the sections above it change their size as they load, until
 * the user scrolls or moves the focus. Returns a function that stops this.
 */
function keepInView(heading: HTMLElement): () => void {
  const end = new AbortController()
  const { signal } = end
  // Also called once the page is shown: until its code has loaded, nothing in it can have the focus.
  const observer = new ResizeObserver(() => {
    heading.focus({ preventScroll: true })
    heading.scrollIntoView({ block: 'start' })
  })
  signal.addEventListener('abort', () => observer.disconnect())
  for (const section of heading.closest('section')?.parentElement?.children ?? [])
    observer.observe(section)
  heading.addEventListener('blur', () => end.abort(), { signal })
  for (const type of ['wheel', 'touchmove', 'keydown'])
    window.addEventListener(type, () => end.abort(), { signal, passive: true })
  return () => end.abort()
}
