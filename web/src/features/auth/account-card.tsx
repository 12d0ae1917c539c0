// The card in the middle of the screen that signing in, registering and links share.
import { type FormEventHandler, type ReactNode, useEffect, useRef } from 'react'
import { Logo } from '../../ui/logo.tsx'

const FIRST_CONTROL = ':is(input:not([hidden]), button):enabled, a[href]'

/**
 * A form where `onSubmit` is given, else only the card; `error` stands above its content
 * (`children`). Names the browser's tab, and puts the focus into the first field, or onto the
 * first button where there is none.
 */
export function AccountCard({
  title,
  text,
  error,
  onSubmit,
  children,
}: {
  title: string
  text?: string | undefined
  /** What went wrong with the last attempt. */
  error?: string | undefined
  onSubmit?: FormEventHandler
  children: ReactNode
}) {
  const content = useRef<HTMLElement>(null)
  useEffect(() => {
    document.title = `${title} · NanoClaw`
  }, [title])
  // Again with each change of what is shown: the button that had the focus may be gone or disabled.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these texts say what is shown
  useEffect(() => {
    if (document.activeElement !== document.body) return
    content.current?.querySelector<HTMLElement>(FIRST_CONTROL)?.focus()
  }, [title, text, error])
  const head = (
    <>
      <div className="mb-1 flex flex-col items-center gap-3 text-center">
        <Logo size={40} />
        <h1 className="font-display text-2xl tracking-tight wrap-anywhere">{title}</h1>
        {text !== undefined && (
          <p role="status" className="text-sm text-balance wrap-anywhere text-muted">
            {text}
          </p>
        )}
      </div>
      {error !== undefined && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
          {error}
        </p>
      )}
    </>
  )
  const card =
    'flex w-full max-w-sm flex-col gap-4 rounded-2xl border border-line bg-surface p-7 shadow-float'
  return (
    <main ref={content} className="grid min-h-full place-items-center p-4">
      {onSubmit === undefined ? (
        <div className={card}>
          {head}
          {children}
        </div>
      ) : (
        <form
          className={card}
          onSubmit={(event) => {
            event.preventDefault()
            onSubmit(event)
          }}
        >
          {head}
          {children}
        </form>
      )}
    </main>
  )
}
