// The card of an input request from an MCP server: a form to fill in, or a page to open.
import { ExternalLink, MessageCircleQuestion } from 'lucide-react'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import type { InputAction, PendingInput } from '../../../../../server/protocol/runs/input.ts'
import { answerInput } from '../../../lib/api/runs.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { reportError } from '../../../ui/states/error-text.ts'
import { useShownCard } from '../shown-cards.ts'
import { contentOf, firstValues, type Values } from './form-values.ts'
import { InputFields } from './input-fields.tsx'

/** The distance between the top of the list of messages and a form that is higher than the list. */
const MARGIN_PIXELS = 12

/** Shown below an answer whose run waits. `onAnswered` is called once the server has the response. */
export function InputCard({
  runId,
  input,
  callHash,
  takesFocus,
  onAnswered,
}: {
  runId: string
  input: PendingInput
  /** Only the question with this hash is answered. */
  callHash?: string
  /** Whether the card takes the focus when it appears. */
  takesFocus: boolean
  onAnswered: () => void
}) {
  const { t } = useTranslation()
  const titleId = useId()
  const card = useRef<HTMLElement>(null)
  useShownCard(card)
  const [values, setValues] = useState<Values>(() => firstValues(input.schema))
  const [busy, setBusy] = useState(false)
  const [opened, setOpened] = useState(false)

  // Scrolls into view and takes the focus, unless the user is typing. A long form shows its beginning.
  useEffect(() => {
    const element = card.current
    if (element === null || !takesFocus) return
    const focused = document.activeElement
    const typing = focused instanceof HTMLTextAreaElement && focused.value !== ''
    const inCard = focused?.closest('[data-approval],[data-input]') != null
    if (!typing && !inCard) element.focus({ preventScroll: true })
    // The list's own observer scrolls to the end of the list first: observers are called in the order of their creation.
    const observer = new ResizeObserver(() => {
      observer.disconnect()
      element.scrollIntoView({ block: 'nearest' })
      const list = element.closest('.overflow-y-auto')
      if (list === null) return
      // `scrollIntoView` with `start` would also move what is around the list.
      const above =
        list.getBoundingClientRect().top + MARGIN_PIXELS - element.getBoundingClientRect().top
      if (above > 0) list.scrollTop -= above
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [takesFocus])

  const sendInput = async (action: InputAction): Promise<void> => {
    setBusy(true)
    try {
      await answerInput(runId, {
        id_ref: input.id_ref,
        action,
        ...(action === 'accept' && input.schema !== undefined
          ? { content: contentOf(input.schema, values) }
          : {}),
        ...(callHash === undefined ? {} : { call_hash: callHash }),
      })
      if (matchMedia('(pointer: fine)').matches) document.getElementById('composer')?.focus()
      onAnswered()
    } catch (error) {
      reportError(error)
      if (error instanceof ApiError && error.status === 409) onAnswered()
      else setBusy(false)
    }
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void sendInput('accept')
  }

  return (
    <section
      ref={card}
      tabIndex={-1}
      data-input
      aria-labelledby={titleId}
      className="overflow-hidden rounded-2xl border border-accent/45 bg-surface shadow-low outline-offset-3"
    >
      <header className="flex items-center gap-2.5 border-b border-line bg-accent-soft px-4 py-2.5">
        <MessageCircleQuestion size={17} aria-hidden className="shrink-0 text-accent" />
        <h2 id={titleId} className="min-w-0 flex-1 text-sm font-semibold">
          {t('input.heading', { server: input.server })}
          <span className="block truncate text-xs font-normal text-soft">
            {input.host ?? t('input.program')}
          </span>
        </h2>
      </header>
      <form onSubmit={submit}>
        <div className="flex flex-col gap-3.5 px-4 py-3.5">
          <p className="text-sm whitespace-pre-wrap wrap-anywhere">{input.message}</p>
          {input.schema !== undefined && (
            <InputFields form={input.schema} values={values} onChange={setValues} />
          )}
          {input.url !== undefined && <PageToOpen url={input.url} onOpen={() => setOpened(true)} />}
          <p className="text-note text-muted">
            {t(input.mode === 'url' ? 'input.urlNote' : 'input.formNote')}
          </p>
        </div>
        <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-2.5">
          <Button type="button" disabled={busy} onClick={() => void sendInput('decline')}>
            {t('input.decline')}
          </Button>
          <Button type="submit" tone="primary" disabled={busy || (input.mode === 'url' && !opened)}>
            {t(input.mode === 'url' ? 'input.finished' : 'input.submit')}
          </Button>
        </footer>
      </form>
    </section>
  )
}

/** Shows the host alone above the full URL, so that nobody mistakes one site for another. */
function PageToOpen({ url, onOpen }: { url: string; onOpen: () => void }) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-xl border border-line px-3.5 py-3">
      <div className="min-w-0 flex-1 basis-48">
        <p className="font-semibold wrap-anywhere">{new URL(url).host}</p>
        <p className="line-clamp-3 font-mono text-xs text-muted wrap-anywhere">{url}</p>
      </div>
      <a
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        onClick={onOpen}
        className="touch-target inline-flex h-9 items-center gap-2 rounded-[10px] border border-line-strong px-3 text-sm font-medium hover:border-muted"
      >
        <ExternalLink size={15} aria-hidden />
        {t('input.open')}
      </a>
    </div>
  )
}
