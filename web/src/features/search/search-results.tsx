// The options of the palette: conversations, projects, files and commands by name, then search hits.
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import type { byConversation } from './group-hits.ts'
import { HitView } from './hit-view.tsx'
import type { Entry } from './use-entries.ts'

/** Search hits by conversation. `before` is the number of entries above the hits. */
export function Hits({
  groups,
  before,
  current,
  optionId,
  onChoose,
}: {
  groups: ReturnType<typeof byConversation>
  before: number
  current: number
  optionId: (index: number) => string
  onChoose: (index: number) => void
}) {
  return groups.map((group) => (
    // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
    <div key={group.id} role="group" aria-label={group.title} className="mb-3">
      {group.hits.some(({ hit }) => hit.type !== 'title') && (
        <div aria-hidden className="truncate px-2.5 pb-1 text-xs font-medium text-muted">
          {group.title}
        </div>
      )}
      {group.hits.map(({ hit, index: place }) => {
        const index = before + place
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
          <div
            key={`${hit.message_id ?? ''} ${hit.step_id ?? ''} ${index}`}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={classNames(
              'cursor-pointer rounded-lg px-2.5 py-2 text-sm wrap-anywhere',
              index === current ? 'bg-hover' : 'hover:bg-hover/60',
            )}
            onClick={() => onChoose(index)}
          >
            <HitView hit={hit} />
          </div>
        )
      })}
    </div>
  ))
}

/** Conversations, projects, files and commands by name, above the hits. */
export function Entries({
  entries,
  current,
  optionId,
  onChoose,
}: {
  entries: readonly Entry[]
  current: number
  optionId: (index: number) => string
  onChoose: (index: number) => void
}) {
  const { t } = useTranslation()
  const labels = {
    conversation: t('palette.conversation'),
    project: t('projects.title'),
    file: t('projects.panel'),
    command: t('palette.command'),
  }
  return (['conversation', 'project', 'file', 'command'] as const).map((kind) => {
    const shown = entries.flatMap((entry, index) => (entry.kind === kind ? [{ entry, index }] : []))
    if (shown.length === 0) return null
    const label = labels[kind]
    return (
      // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
      <div key={kind} role="group" aria-label={label} className="mb-3">
        <div aria-hidden className="px-2.5 pb-1 text-xs font-medium text-muted">
          {label}
        </div>
        {shown.map(({ entry: { key, icon: Icon, text, place, keys }, index }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
          <div
            key={key}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={classNames(
              'flex min-h-9 cursor-pointer items-center gap-2.5 rounded-lg px-2.5 text-sm pointer-coarse:min-h-11',
              index === current ? 'bg-hover' : 'hover:bg-hover/60',
            )}
            onClick={() => onChoose(index)}
          >
            <Icon size={15} aria-hidden className="shrink-0 text-muted" />
            <span dir="auto" className="min-w-0 flex-1 truncate rtl:text-right">
              {text}
            </span>
            {place !== undefined && (
              <span dir="auto" className="max-w-40 shrink-0 truncate text-xs text-muted">
                {place}
              </span>
            )}
            {keys !== '' && (
              <kbd className="pointer-coarse:hidden shrink-0 font-sans text-xs text-muted">
                {keys}
              </kbd>
            )}
          </div>
        ))}
      </div>
    )
  })
}
