// The output of a program in its colours: initially only its end, which shows how it went.

import { ChevronUp } from 'lucide-react'
import { memo, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../../lib/list-keys.ts'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/markdown/copy-button.tsx'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'
import { classOf, readTerminal, type Span } from './ansi.ts'

/** Lines of the end that are shown initially. */
const LINES_FOLDED = 24
/** More elements would slow down the page; the copy button copies everything. */
const LINES_SHOWN = 2_000
const CHARACTERS_SHOWN = 200_000

const Line = memo(function Line({ spans }: { spans: readonly Span[] }) {
  return (
    <span className="block min-h-[1lh]">
      {atPlaces(spans).map(({ place, item: { text, style } }) => {
        const name = classOf(style)
        return name === '' ? (
          text
        ) : (
          <span key={place} className={name}>
            {text}
          </span>
        )
      })}
    </span>
  )
})

/** `text` may contain ANSI control sequences; `label` is the heading. */
export function TerminalOutput({
  label,
  text,
  tone = 'plain',
}: {
  label: string
  text: string
  /** `bad` marks error output. */
  tone?: 'plain' | 'bad'
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const frame = useRef<HTMLPreElement>(null)
  const atEnd = useRef(true)
  const lines = useMemo(() => readTerminal(text.slice(-CHARACTERS_SHOWN).trimEnd()), [text])
  const shown = lines.slice(open ? -LINES_SHOWN : -LINES_FOLDED)
  const hidden = lines.length - shown.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is the reason to scroll
  useLayoutEffect(() => {
    const element = frame.current
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight
  }, [lines])
  return (
    <div>
      <div className="mb-1 flex items-center justify-between gap-2 text-xs text-muted">
        <span className={classNames('font-medium', tone === 'bad' && 'text-bad')}>{label}</span>
        <CopyButton text={text} />
      </div>
      <div
        className={classNames(
          'overflow-hidden rounded-lg border bg-sunken',
          tone === 'bad' ? 'border-bad/35' : 'border-line',
        )}
      >
        {hidden > 0 && (
          <button
            type="button"
            aria-expanded={open}
            disabled={open}
            className="flex w-full items-center gap-1.5 border-b border-line px-3 py-1 text-start text-xs text-muted hover:bg-hover hover:text-ink disabled:hover:bg-transparent pointer-coarse:min-h-11"
            onClick={() => setOpen(true)}
          >
            <ChevronUp size={13} aria-hidden />
            {t(open ? 'steps.linesCut' : 'steps.linesBefore', { count: hidden })}
          </button>
        )}
        <ScrollRegion
          as="pre"
          ref={frame}
          role="log"
          aria-label={label}
          // Announcing every line would drown the answer; screen readers can still read it.
          aria-live="off"
          dir="ltr"
          className={classNames(
            'code-lines max-h-96 overflow-auto bg-sunken px-3 py-2 text-code whitespace-pre-wrap -outline-offset-2 [overflow-wrap:anywhere]',
            tone === 'bad' && 'border-s-3 border-bad/50',
          )}
          onScroll={({ currentTarget: element }) => {
            atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24
          }}
        >
          {atPlaces(shown).map(({ place, item }) => (
            <Line key={place} spans={item} />
          ))}
        </ScrollRegion>
      </div>
    </div>
  )
}
