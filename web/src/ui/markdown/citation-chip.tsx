// The chip of a cited source: a number that leads to the source, with a preview on hover, focus and touch.
import { BookOpen, Globe } from 'lucide-react'
import { HoverCard } from 'radix-ui'
import { type PointerEvent, useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Citation } from './citation-context.ts'

const OPEN_MS = 120
const CLOSE_MS = 120

/** A web source opens in a new tab, a passage in a dialog; others only show their preview. */
export function CitationChip({ citation }: { citation: Citation }) {
  const { t } = useTranslation()
  const { number, title, place, text, url, open: show } = citation
  const [open, setOpen] = useState(false)
  const touched = useRef(false)
  const id = useId()
  const Icon = url === undefined ? BookOpen : Globe
  const common = {
    'aria-label': t('results.source', { number, title }),
    'aria-describedby': open ? id : undefined,
    className: 'cite-chip',
    onPointerDown: (event: PointerEvent) => {
      touched.current = event.pointerType === 'touch'
    },
  }
  return (
    <HoverCard.Root open={open} onOpenChange={setOpen} openDelay={OPEN_MS} closeDelay={CLOSE_MS}>
      <HoverCard.Trigger asChild>
        {url === undefined ? (
          <button type="button" {...common} onClick={show}>
            {number}
          </button>
        ) : (
          <a
            {...common}
            href={url}
            target="_blank"
            rel="noopener noreferrer nofollow"
            onClick={(event) => {
              // Without a pointer that hovers, the first touch shows the preview and the second one follows the link.
              if (!touched.current || open) return
              event.preventDefault()
              setOpen(true)
            }}
          >
            {number}
          </a>
        )}
      </HoverCard.Trigger>
      {/* Within the main landmark, like the text it belongs to. */}
      <HoverCard.Portal container={document.querySelector('main')}>
        <HoverCard.Content
          id={id}
          role="tooltip"
          side="top"
          sideOffset={6}
          collisionPadding={12}
          className="z-50 flex w-80 max-w-[calc(100vw-1.5rem)] animate-appear flex-col gap-1 rounded-xl border border-line bg-surface px-3.5 py-3 text-sm shadow-float"
        >
          <span className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
            <Icon size={13} aria-hidden className="shrink-0" />
            <span className="truncate">{place}</span>
          </span>
          <span dir="auto" className="line-clamp-2 font-medium [overflow-wrap:anywhere]">
            {title}
          </span>
          {text !== undefined && text !== '' && (
            <span
              dir="auto"
              className="line-clamp-4 text-[13px] text-soft [overflow-wrap:anywhere]"
            >
              {text}
            </span>
          )}
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  )
}
