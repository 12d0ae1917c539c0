// Opens a conversation at a message: shows its branch, loads its page, scrolls to it and highlights words.
import { useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useState, useSyncExternalStore } from 'react'
import { useSearch } from 'wouter'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { usePatchConversation } from '../../../lib/api/conversations.ts'
import { messageKeys } from '../../../lib/api/messages.ts'

const HIGHLIGHT = 'search-hit'

/** Not in the stylesheet, because its compiler does not know this selector. */
function styleHighlights(): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(
    `::highlight(${HIGHLIGHT}) { background-color: var(--warn-soft); color: var(--ink) }`,
  )
  document.adoptedStyleSheets.push(sheet)
}
let isStyled = false

/** The ranges of the words in the element, regardless of case. */
function rangesOf(element: HTMLElement, words: readonly string[]): Range[] {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.textContent ?? '').toLowerCase()
    for (const word of words.map((one) => one.toLowerCase()))
      for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
        if (word === '' || at + word.length > (node.textContent ?? '').length) break
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + word.length)
        ranges.push(range)
      }
  }
  return ranges
}

const HASH = '#m-'

/** The message id in `?m=<id>` or, for shared links, in `#m-<id>`. */
const messageIdIn = (query: string, hash: string): string | null =>
  new URLSearchParams(query).get('m') ?? (hash.startsWith(HASH) ? hash.slice(HASH.length) : null)

const subscribeToHash = (onChange: () => void): (() => void) => {
  addEventListener('hashchange', onChange)
  return () => removeEventListener('hashchange', onChange)
}

/** Follows `?m=<message id>&mark=<word>` and `#m-<message id>` of the URL. */
export function useMessageTarget(
  conversationId: string,
  messages: readonly Message[],
  scroller: RefObject<HTMLElement | null>,
  {
    hasOlder,
    loadOlder,
    release,
  }: { hasOlder: boolean; loadOlder: () => void; release: () => void },
): void {
  const search = useSearch()
  const hash = useSyncExternalStore(subscribeToHash, () => location.hash)
  const query = search + hash
  const { mutate } = usePatchConversation()
  const client = useQueryClient()
  /** The URL whose message is on the shown branch. */
  const [ready, setReady] = useState('')
  const targetId = messageIdIn(search, hash)
  useEffect(() => {
    if (targetId === null) return
    let isUnmounted = false
    // Loaded on demand, because few URLs name a message, and the check of ids is as large as half of the chat.
    void import('../../../../../server/protocol/ids.ts').then(({ MessageId }) => {
      const leaf = MessageId.safeParse(targetId)
      if (isUnmounted || !leaf.success) return
      mutate(
        { id: conversationId, leaf_id: leaf.data },
        {
          onSettled: async () => {
            await client.invalidateQueries({ queryKey: messageKeys.list(conversationId) })
            setReady(query)
          },
        },
      )
    })
    return () => {
      isUnmounted = true
    }
  }, [targetId, query, conversationId, mutate, client])
  const isHere = messages.some(({ id }) => id === targetId)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives may contain the message
  useEffect(() => {
    if (targetId === null || ready !== query) return
    if (!isHere) {
      if (hasOlder) loadOlder()
      return
    }
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-message="${CSS.escape(targetId)}"]`,
    )
    if (row == null) return
    const [first, ...rest] = rangesOf(row, new URLSearchParams(search).getAll('mark'))
    if (first !== undefined) {
      if (!isStyled) styleHighlights()
      isStyled = true
      CSS.highlights?.set(HIGHLIGHT, new Highlight(first, ...rest))
    }
    // A long message is taller than the window, so scroll to the first word.
    const target = first?.startContainer.parentElement ?? row
    release()
    target.scrollIntoView({ block: 'center' })
    // Rows get their real height when they come into view, which moves the target.
    const frame = requestAnimationFrame(() => target.scrollIntoView({ block: 'center' }))
    return () => {
      cancelAnimationFrame(frame)
      CSS.highlights?.delete(HIGHLIGHT)
    }
  }, [targetId, ready, query, isHere, messages[0]?.id, hasOlder])
}
