// The controls above the conversation list: filter by title, view, tag, and the start of a selection.
import { Archive, ListChecks, ListFilter, Search, Trash2, X } from 'lucide-react'
import type { ListView } from '../../lib/api/conversation-lists.ts'
import { useTags } from '../../lib/api/conversations.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { Menu, MenuChoices, MenuHeading, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'

/** The element id of the button for the view and the selection. */
export const VIEW_BUTTON_ID = 'conversation-view'

/** The value for no tag; tags are never empty. */
const ALL_TAGS = ''
const SHOWN_TAGS = 12
const VIEWS = ['current', 'archived', 'trash'] as const satisfies readonly ListView[]

/** `onSearch`, `onView` and `onTag` change the contents of the list. */
export function ListControls({
  search,
  view,
  tag,
  onSearch,
  onView,
  onTag,
  onSelect,
  onDown,
}: {
  search: string
  view: ListView
  tag: string | null
  onSearch: (search: string) => void
  onView: (view: ListView) => void
  onTag: (tag: string | null) => void
  /** Starts selecting conversations. */
  onSelect: () => void
  /** Called for ↓, which moves the focus into the list. */
  onDown: () => void
}) {
  const { t } = useTranslation()
  return (
    <>
      <div className="flex items-center gap-1 px-3 pb-2">
        <TitleFilter search={search} onSearch={onSearch} onDown={onDown} />
        <ViewMenu view={view} tag={tag} onView={onView} onTag={onTag} onSelect={onSelect} />
      </div>
      {view !== 'current' && (
        <Filter label={t(`conversations.views.${view}`)} onClear={() => onView('current')} />
      )}
      {tag !== null && (
        <Filter label={t('conversations.tagged', { tag })} onClear={() => onTag(null)} />
      )}
    </>
  )
}

function TitleFilter({
  search,
  onSearch,
  onDown,
}: {
  search: string
  onSearch: (search: string) => void
  onDown: () => void
}) {
  const { t } = useTranslation()
  return (
    <label className="relative min-w-0 flex-1">
      <Search
        size={14}
        aria-hidden
        className="pointer-events-none absolute top-1/2 start-2.5 -translate-y-1/2 text-muted"
      />
      <input
        id="conversation-search"
        type="search"
        value={search}
        maxLength={200}
        aria-label={t('conversations.filter')}
        placeholder={t('conversations.filter')}
        className="h-8.5 w-full rounded-lg border border-transparent bg-hover/70 pe-7 ps-8 text-compact outline-offset-0 transition-colors hover:bg-hover focus-visible:bg-surface [&::-webkit-search-cancel-button]:hidden"
        onChange={(event) => onSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onSearch('')
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          onDown()
        }}
      />
      {search !== '' && (
        <button
          type="button"
          aria-label={t('common.clear')}
          className="absolute top-1/2 end-1.5 grid size-6 -translate-y-1/2 place-items-center rounded-md text-muted hover:text-ink"
          onClick={() => onSearch('')}
        >
          <X size={13} aria-hidden />
        </button>
      )}
    </label>
  )
}

/** The menu that chooses the view or starts a selection. */
function ViewMenu({
  view,
  tag,
  onView,
  onTag,
  onSelect,
}: {
  view: ListView
  tag: string | null
  onView: (view: ListView) => void
  onTag: (tag: string | null) => void
  onSelect: () => void
}) {
  const { t } = useTranslation()
  const tags = useTags()
  return (
    <Menu
      align="end"
      label={t('conversations.view')}
      trigger={
        <IconButton
          icon={view === 'trash' ? Trash2 : view === 'archived' ? Archive : ListFilter}
          id={VIEW_BUTTON_ID}
          label={t('conversations.view')}
          size="small"
          className={view === 'current' && tag === null ? '' : 'text-accent!'}
        />
      }
    >
      <MenuChoices
        value={view}
        choices={VIEWS.map((value) => ({ value, label: t(`conversations.views.${value}`) }))}
        onChoose={(value) => onView(VIEWS.find((one) => one === value) ?? 'current')}
      />
      {(tags.data?.length ?? 0) > 0 && (
        <>
          <MenuSeparator />
          <MenuHeading>{t('conversations.tags')}</MenuHeading>
          <MenuChoices
            value={tag ?? ALL_TAGS}
            choices={[
              { value: ALL_TAGS, label: t('conversations.allTags') },
              ...(tags.data ?? [])
                .slice(0, SHOWN_TAGS)
                .map((one) => ({ value: one.tag, label: one.tag })),
            ]}
            onChoose={(value) => onTag(value === ALL_TAGS ? null : value)}
          />
        </>
      )}
      <MenuSeparator />
      <MenuItem icon={ListChecks} onSelect={onSelect}>
        {t('conversations.select')}
      </MenuItem>
    </Menu>
  )
}

/** Names what the list is limited to; a click ends that and returns the focus to the menu. */
function Filter({ label, onClear }: { label: string; onClear: () => void }) {
  const { t } = useTranslation()
  return (
    <button
      type="button"
      className="mx-3 mb-2 flex h-7 items-center gap-1.5 rounded-md bg-accent-soft px-2 text-note text-accent pointer-coarse:h-11"
      onClick={() => {
        onClear()
        document.getElementById(VIEW_BUTTON_ID)?.focus()
      }}
    >
      <span dir="auto" className="min-w-0 flex-1 truncate text-start">
        {label}
      </span>
      <X size={13} aria-label={t('common.clear')} />
    </button>
  )
}
