// The list above the message field for `/` and `@`. The field keeps the focus and forwards its keys.
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { ProjectId } from '../../../../../../server/protocol/ids.ts'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import type { Editing, Suggestion } from './suggestion.ts'
import { SUGGESTIONS_ID, type Trigger } from './trigger.ts'
import { useCommandsList } from './use-commands-list.ts'
import { useMentionsList } from './use-mentions-list.ts'

/** The free space above the list, and the limits of its height. */
const FREE_PIXELS = 60
const MIN_HEIGHT_PIXELS = 130
const MAX_HEIGHT_PIXELS = 340

const optionId = (index: number): string => `${SUGGESTIONS_ID}-${index}`

/** Handles a key of the field. Returns true if the key belongs to the list. */
export type KeyHandler = (event: KeyboardEvent) => boolean

type Props = {
  trigger: Trigger
  projectId: ProjectId | null
  editing: Editing
  keys: RefObject<KeyHandler | null>
  /** Receives the id of the entry that Enter chooses; null if there is none. */
  onActive: (id: string | null) => void
  onClose: () => void
}

/** Lists commands or mentions, depending on the character that opened it. */
export function SuggestionList(props: Props) {
  return props.trigger.kind === 'command' ? <Commands {...props} /> : <Mentions {...props} />
}

function Commands(props: Props) {
  const { trigger, projectId, editing } = props
  return <List {...props} entries={useCommandsList(trigger.query, projectId, editing)} />
}

function Mentions(props: Props) {
  const { trigger, projectId, editing } = props
  return <List {...props} entries={useMentionsList(trigger.query, projectId, editing)} />
}

function List({
  trigger,
  entries,
  keys,
  onActive,
  onClose,
}: Props & { entries: readonly Suggestion[] }) {
  const { t } = useTranslation()
  const [place, setPlace] = useState(0)
  const active = Math.min(place, entries.length - 1)
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key === 'Escape') {
      // Closes only the list: it must not stop the run.
      event.preventDefault()
      onClose()
      return true
    }
    if (entries.length === 0) return false
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      const next = (active + step + entries.length) % entries.length
      setPlace(next)
      document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
    } else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab')
      entries[active]?.choose()
    else return false
    event.preventDefault()
    return true
  }
  useLayoutEffect(() => {
    keys.current = onKey
    return () => {
      keys.current = null
    }
  })
  useEffect(() => () => onActive(null), [onActive])
  useEffect(() => onActive(active < 0 ? null : optionId(active)), [active, onActive])
  const box = useRef<HTMLDivElement>(null)
  const [height, setHeight] = useState(MAX_HEIGHT_PIXELS)
  const isShown = entries.length > 0
  // The field may be near the top of the window.
  useLayoutEffect(() => {
    const top = box.current?.parentElement?.getBoundingClientRect().top ?? 0
    if (isShown)
      setHeight(Math.max(MIN_HEIGHT_PIXELS, Math.min(MAX_HEIGHT_PIXELS, top - FREE_PIXELS)))
  }, [isShown])
  if (!isShown) return null
  return (
    <div
      ref={box}
      id={SUGGESTIONS_ID}
      style={{ maxHeight: height }}
      role="listbox"
      aria-label={t(trigger.kind === 'command' ? 'suggestions.commands' : 'suggestions.mentions')}
      className="absolute inset-x-0 bottom-full z-20 mb-2 animate-appear overflow-y-auto rounded-xl border border-line bg-surface p-1 shadow-float"
    >
      {entries.map(({ key, icon: Icon, label, hint, choose }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and forwards its keys
        <div
          key={key}
          id={optionId(index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={classNames(
            'flex min-h-9 pointer-coarse:min-h-11 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-sm',
            index === active ? 'bg-hover' : 'hover:bg-hover/60',
          )}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={choose}
        >
          <Icon size={15} aria-hidden className="shrink-0 text-muted" />
          <span dir="auto" className="min-w-0 flex-1 truncate rtl:text-right">
            {label}
          </span>
          {hint !== undefined && <span className="shrink-0 text-xs text-muted">{hint}</span>}
        </div>
      ))}
    </div>
  )
}
