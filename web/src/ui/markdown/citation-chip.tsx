// The chip of a cited source: its number, with a preview on hover, focus and touch.
import { BookOpen, Globe } from 'lucide-react'
import { HoverCard } from 'radix-ui'
import { type PointerEvent, useId, useRef, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import type { Citation } from './citation-context.ts'

const OPEN_DELAY_MS = 120
const CLOSE_DELAY_MS = 120

/** A click opens a web source in a new tab and a passage in a dialog; other sources only show their preview. */
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
    <HoverCard.Root
      open={open}
      onOpenChange={setOpen}
      openDelay={OPEN_DELAY_MS}
      closeDelay={CLOSE_DELAY_MS}
    >
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
              // Touch cannot hover: the first tap shows the preview, the second follows the link.
              if (!touched.current || open) return
              event.preventDefault()
              setOpen(true)
            }}
          >
            {number}
          </a>
        )}
      </HoverCard.Trigger>
      {/* Inside the main landmark, like the text of the citation. */}
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
            <span dir="auto" className="line-clamp-4 text-note text-soft [overflow-wrap:anywhere]">
              {text}
            </span>
          )}
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  )
}
