// The button below a list that loads its next page.
import { hashKey, type QueryKey, type UseInfiniteQueryResult } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { focusIfLost } from '../../lib/browser/focus-if-lost.ts'
import { useNextPage } from '../../lib/http/next-page.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { errorText } from '../states/error-text.ts'
import { Button, type ButtonProps } from './button.tsx'
import { firstControl } from './move-focus-on-removal.ts'

type Pages = Pick<
  UseInfiniteQueryResult,
  'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
>

/**
 * Follows the element whose children are the rows; renders nothing after the last page. `list` is the query, `queryKey` its
 * key. The first of the new rows gets the focus, so that Tab goes on where the user stopped reading; rows without a control
 * leave it where `onLoad` puts it. A failure is shown here, because the loaded rows stay.
 */
export function ShowMore({
  list,
  queryKey,
  onLoad,
  children,
  ...button
}: { list: Pages; queryKey: QueryKey; onLoad?: () => void } & Pick<
  ButtonProps,
  'tone' | 'size' | 'children'
>) {
  const { t } = useTranslation()
  const frame = useRef<HTMLDivElement>(null)
  const loadNext = useNextPage(queryKey, list.fetchNextPage)
  const key = hashKey(queryKey)
  const requested = useRef<{ key: string; rows: Element; count: number } | null>(null)
  const hasFailed = list.isFetchNextPageError && !list.isFetchingNextPage
  // After every render: the one with the new rows may also be the one without the button.
  useEffect(() => {
    // Rows that appear later for another reason do not take the focus.
    if (hasFailed || requested.current?.key !== key) requested.current = null
    if (requested.current === null) return
    const { rows, count } = requested.current
    const row = rows.children[count]
    if (row === undefined) return
    requested.current = null
    const control = firstControl(row)
    if (control !== undefined) control.focus()
    else focusIfLost(firstControl(rows.closest('section, main, [role=dialog]')) ?? null)
  })
  const load = (): void => {
    const rows = frame.current?.previousElementSibling
    if (rows) requested.current = { key, rows, count: rows.children.length }
    void loadNext()
    onLoad?.()
  }
  if (!list.hasNextPage) return null
  return (
    <div ref={frame} className="flex flex-col items-center gap-2 pt-2">
      {list.isFetchNextPageError && (
        <p role="alert" className="text-sm text-bad">
          {errorText(list.error)}
        </p>
      )}
      <Button {...button} disabled={list.isFetchingNextPage} onClick={load}>
        {children ?? t('common.more')}
      </Button>
    </div>
  )
}
