// The search over everything: a field, and hits grouped by conversation, all reachable by keyboard.
import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import type { SearchHit } from '../../../../server/protocol/search.ts'
import { useSearchHits } from '../../lib/api/search.ts'
import { paths } from '../../lib/paths.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { errorText } from '../../ui/error-text.ts'
import { Failed, Spinner } from '../../ui/feedback.tsx'
import { hitTexts, readSnippet } from './snippet.ts'

type Group = { id: string; title: string; hits: { hit: SearchHit; index: number }[] }

/** Each conversation once, where its best hit is. */
function byConversation(hits: readonly SearchHit[]): Group[] {
  const groups = new Map<string, Group>()
  for (const hit of hits) {
    const id = hit.conversation_id ?? ''
    const group = groups.get(id) ?? { id, title: hit.title, hits: [] }
    groups.set(id, group)
    group.hits.push({ hit, index: 0 })
  }
  let index = 0
  for (const group of groups.values())
    for (const one of group.hits) {
      one.index = index
      index += 1
    }
  return [...groups.values()]
}

const pathOf = (hit: SearchHit): string =>
  hit.conversation_id === null
    ? paths.project(hit.project_id ?? '')
    : hit.message_id === undefined
      ? paths.conversation(hit.conversation_id)
      : paths.messageIn(hit.conversation_id, hit.message_id, hitTexts(hit.snippet))

/** The text once typing pauses, so that not every letter is a request. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 180)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

export function SearchDialog({
  open,
  onOpenChange,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
}) {
  const { t, i18n } = useTranslation()
  const [, navigate] = useLocation()
  const listId = useId()
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const q = useSettled(text.trim())
  const search = useSearchHits(q)
  const groups = byConversation(
    q === '' ? [] : (search.data?.pages.flatMap(({ items }) => items) ?? []),
  )
  const hits = groups.flatMap((group) => group.hits.map(({ hit }) => hit))
  const current = Math.min(selected, hits.length - 1)
  const indexed = search.data?.pages[0]?.indexed ?? 1
  const optionId = (index: number): string => `${listId}-${index}`

  const go = (hit: SearchHit | undefined): void => {
    if (hit === undefined) return
    onOpenChange(false)
    navigate(pathOf(hit))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // While an input method composes, the keys belong to it.
    if (event.nativeEvent.isComposing) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && hits.length > 0) {
      event.preventDefault()
      const next = (current + step + hits.length) % hits.length
      setSelected(next)
      document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      go(hits[current])
    }
  }
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('search.title')} width="normal">
      <label className="relative mt-1 block">
        <Search
          size={15}
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-muted"
        />
        <input
          autoFocus
          type="search"
          role="combobox"
          aria-expanded={hits.length > 0}
          aria-controls={listId}
          aria-activedescendant={hits.length > 0 ? optionId(current) : undefined}
          aria-label={t('search.title')}
          placeholder={t('search.placeholder')}
          value={text}
          maxLength={500}
          className="h-10 w-full rounded-lg border border-line-strong bg-surface pr-3 pl-9 text-sm max-sm:text-base"
          onChange={(event) => {
            setText(event.target.value)
            setSelected(0)
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <p className="mt-1.5 text-xs text-muted">{t('search.hint')}</p>
      {indexed < 1 && (
        <p role="status" className="mt-2 text-xs text-soft">
          {t('search.indexing', { percent: Math.floor(indexed * 100) })}
        </p>
      )}
      <div className="mt-3 min-h-24">
        {q !== '' && search.isPending && (
          <div className="flex justify-center p-6">
            <Spinner />
          </div>
        )}
        {search.isError && (
          <Failed message={errorText(search.error)} onRetry={() => void search.refetch()} />
        )}
        {q !== '' && search.isSuccess && hits.length === 0 && (
          <p role="status" className="p-6 text-center text-sm text-muted">
            {t('search.nothing')}
          </p>
        )}
        <div id={listId} role="listbox" aria-label={t('search.results')}>
          {groups.map((group) => (
            // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by role
            <div key={group.id} role="group" aria-label={group.title} className="mb-3">
              <div aria-hidden className="truncate px-2.5 pb-1 text-xs font-medium text-muted">
                {group.title}
              </div>
              {group.hits.map(({ hit, index }) => (
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
                  onClick={() => go(hit)}
                >
                  <span className="mb-0.5 flex gap-2 text-xs text-soft">
                    <span>
                      {t(
                        `search.type.${hit.role === 'user' && hit.type === 'message' ? 'mine' : hit.type}`,
                      )}
                    </span>
                    <span>
                      {new Date(hit.created_at).toLocaleDateString(i18n.language, {
                        dateStyle: 'medium',
                      })}
                    </span>
                  </span>
                  <span className="line-clamp-3">
                    {readSnippet(hit.snippet).map((part, at) =>
                      part.isHit ? (
                        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a snippet never move
                        <mark key={at} className="rounded-xs bg-warn-soft text-ink">
                          {part.text}
                        </mark>
                      ) : (
                        part.text
                      ),
                    )}
                  </span>
                </div>
              ))}
            </div>
          ))}
        </div>
        {search.hasNextPage && hits.length > 0 && (
          <div className="flex justify-center">
            <Button
              disabled={search.isFetchingNextPage}
              onClick={() => void search.fetchNextPage()}
            >
              {t('search.more')}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}
