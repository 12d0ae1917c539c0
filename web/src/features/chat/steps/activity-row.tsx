// A row of an answer's activity: an icon, a title and a state, with details that unfold below.
import { ChevronRight, type LucideIcon } from 'lucide-react'
import { createContext, type ReactNode, useContext, useEffect, useId, useState } from 'react'
import { classNames } from '../../../ui/class-names.ts'

/** The row that is rendered: its key, and the keys of the rows of its answer that the user has unfolded. */
export const RowKey = createContext<{ key: string; unfolded: Set<string> } | null>(null)

/** The frame of thinking and tool calls. `children` are rendered only while the row is open; `below` is always visible. */
export function ActivityRow({
  icon: Icon,
  title,
  summary,
  trailing,
  live = false,
  tone = 'plain',
  initiallyOpen = false,
  below,
  unfold = false,
  children,
}: {
  icon: LucideIcon
  title: string
  summary?: string
  trailing?: ReactNode
  live?: boolean
  tone?: 'plain' | 'bad'
  initiallyOpen?: boolean
  /** Visible while the row is folded too. */
  below?: ReactNode
  /** When it becomes true, the row unfolds once, because there is something to watch. */
  unfold?: boolean
  children: ReactNode
}) {
  const row = useContext(RowKey)
  // The row is rendered anew when it moves into the line of its group.
  const [open, setOpen] = useState(initiallyOpen || row?.unfolded.has(row.key) === true)
  const toggle = (): void => {
    setOpen(!open)
    if (open) row?.unfolded.delete(row.key)
    else row?.unfolded.add(row.key)
  }
  useEffect(() => {
    if (unfold) setOpen(true)
  }, [unfold])
  const contentId = useId()
  return (
    <div className="relative">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? contentId : undefined}
        className="flex w-full min-w-0 items-center gap-2.5 rounded-lg py-1 pe-2 text-start text-sm hover:bg-hover/60"
        onClick={toggle}
      >
        <span
          className={classNames(
            'z-1 grid size-6.5 shrink-0 place-items-center rounded-full border bg-paper',
            tone === 'bad' && 'border-bad/40 text-bad',
            tone === 'plain' && 'border-line text-muted',
          )}
        >
          <Icon size={13} aria-hidden className={live ? 'animate-breathe' : ''} />
        </span>
        {/* Gives way only after the summary has, which takes what is left. */}
        <span
          className={classNames('min-w-0 truncate font-medium', live ? 'text-ink' : 'text-soft')}
        >
          {title}
        </span>
        {summary !== undefined && summary !== '' && (
          <span dir="auto" className="min-w-0 flex-1 truncate font-mono text-code text-muted">
            {summary}
          </span>
        )}
        <span className="ms-auto flex shrink-0 items-center gap-2 text-xs text-muted tabular-nums">
          {trailing}
          <ChevronRight
            size={14}
            aria-hidden
            className={classNames('transition-transform', open && 'rotate-90 rtl:-rotate-90')}
          />
        </span>
      </button>
      {open && (
        <div id={contentId} className="pt-1 pb-2 ps-9">
          {children}
        </div>
      )}
      {below}
    </div>
  )
}
