// The centred card that sign-in, registration and account links share.
import { type FormEventHandler, type ReactNode, useEffect, useRef } from 'react'
import { Logo } from '../../ui/logo.tsx'

const FIRST_CONTROL = ':is(input:not([hidden]), button):enabled, a[href]'

/**
 * A form if `onSubmit` is given, else only a card. `error` is shown above the content (`children`). Sets the tab's title.
 * Focuses the first field, or the first button if there is no field, also after an attempt that failed.
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
  /** The error of the last attempt. */
  error?: string | undefined
  onSubmit?: FormEventHandler
  children: ReactNode
}) {
  const content = useRef<HTMLElement>(null)
  useEffect(() => {
    document.title = `${title} · NanoClaw`
  }, [title])
  // Runs again when the content changes: the focused control may have been removed, or its attempt may have failed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these texts identify the content
  useEffect(() => {
    const focused = document.activeElement
    const hasFailed = error !== undefined && focused?.matches('[type=submit]') === true
    if (focused !== document.body && !hasFailed) return
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
