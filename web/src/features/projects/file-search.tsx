// Searches the contents of a project's files.
import { useDeferredValue, useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { inputClass } from '../../ui/controls/field.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Spinner } from '../../ui/states/feedback.tsx'
import { useFileSearch } from './api/files.ts'

/** `onOpen` receives the path and the line (from 1) of the chosen match. */
export function FileSearch({
  projectId,
  onOpen,
}: {
  projectId: string
  onOpen: (place: { path: string; line: number }) => void
}) {
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const query = useDeferredValue(text.trim())
  const found = useFileSearch(projectId, query)
  return (
    <div className="flex min-h-0 flex-col gap-2 px-3">
      <input
        // biome-ignore lint/a11y/noAutofocus: the user has just asked to search
        autoFocus
        type="search"
        value={text}
        maxLength={1_000}
        aria-label={t('files.search')}
        placeholder={t('files.searchIn')}
        className={`${inputClass} h-9`}
        onChange={(event) => setText(event.target.value)}
      />
      <div role="status" className="text-xs text-muted">
        {found.isFetching && <Spinner size={12} />}
        {found.isError && <span className="text-bad">{errorText(found.error)}</span>}
        {found.data !== undefined &&
          t(found.data.truncated ? 'files.foundMore' : 'files.found', {
            count: found.data.total_matches,
          })}
      </div>
      <ul className="flex flex-col gap-2">
        {found.data?.results.map(({ path, matches }) => (
          <li key={path}>
            <p className="truncate text-note font-medium">{path}</p>
            <ul>
              {matches.map(({ line, content }) => (
                <li key={line}>
                  <button
                    type="button"
                    className="flex w-full gap-2 rounded-md px-1 py-0.5 text-start font-mono text-xs text-soft hover:bg-hover"
                    onClick={() => onOpen({ path, line })}
                  >
                    <span className="w-8 shrink-0 text-end text-muted tabular-nums">{line}</span>
                    <span className="min-w-0 truncate">{content.trim()}</span>
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  )
}
