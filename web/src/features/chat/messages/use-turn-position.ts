// Where a new question stands: at the top of the view, with room for its answer below, so that nothing moves while it grows.
import { type RefObject, useLayoutEffect, useRef } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { Outgoing } from '../sending/outgoing.ts'
import type { useScrollPosition } from './use-scroll-position.ts'

/** The part of the view that a question has at most; the answer to a longer one begins below its end. */
const QUESTION_SHARE = 0.4

/** The space above the first row of a thread and below its last one; a question at the top has the same above it. */
const EDGE_PIXELS = 16

const isUnfinished = (message: Message | undefined): boolean =>
  message?.role === 'assistant' &&
  (message.status === 'streaming' ||
    message.status === 'awaiting_approval' ||
    message.status === 'awaiting_input')

/** The scroll position at which the row is at the top, or, if it is long, its end is where its answer begins. */
const positionOf = (row: HTMLElement, scroller: HTMLElement): number => {
  const { top, height } = row.getBoundingClientRect()
  const above = scroller.scrollTop + top - scroller.getBoundingClientRect().top
  return above - EDGE_PIXELS + Math.max(0, height - QUESTION_SHARE * scroller.clientHeight)
}

/**
 * Moves to a question when it is asked, and to the end when another branch is shown. The last row of `content` is then so
 * high that the question can be at the top.
 * @param sent the message on its way; its stored message takes its place without another movement.
 */
export function useTurnPosition(
  content: RefObject<HTMLElement | null>,
  messages: readonly Message[],
  sent: Outgoing | null,
  {
    keep,
    keepAgain,
    toEnd,
  }: Pick<ReturnType<typeof useScrollPosition>, 'keep' | 'keepAgain' | 'toEnd'>,
): void {
  const isOnItsWay = sent !== null && !messages.some(({ id }) => id === sent.messageId)
  const asked = isOnItsWay ? sent.clientId : messages.findLast(({ role }) => role === 'user')?.id
  const last = messages.at(-1)
  /** The last message on its way: it may have left when its stored message is rendered. */
  const lastSent = useRef(sent)
  if (sent !== null) lastSent.current = sent
  /** The question that was last shown, and its row if it was moved to the top; undefined before the first. */
  const shown = useRef<{ id: string | undefined; row: HTMLElement | null }>(undefined)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another message is the reason to look at the rows again
  useLayoutEffect(() => {
    const element = content.current
    if (element === null) return
    const before = shown.current
    const { clientId, messageId } = lastSent.current ?? {}
    const isSame =
      before !== undefined &&
      (before.id === asked || (before.id === clientId && asked === messageId))
    const isAsked = isSame
      ? before.row !== null
      : isOnItsWay || ((before !== undefined || messages.length <= 2) && isUnfinished(last))
    const rows = [...element.querySelectorAll<HTMLElement>(':scope > [data-message]')]
    const row = isAsked ? (rows.find(({ dataset }) => dataset.message === asked) ?? null) : null
    shown.current = { id: asked, row }
    const answer = element.lastElementChild
    if (row === null || !(answer instanceof HTMLElement)) {
      if (!isSame) toEnd()
      return
    }
    const makeRoom = (): void => {
      const between = answer.offsetTop - row.offsetTop - row.offsetHeight
      const question = `min(${row.offsetHeight}px, ${100 * QUESTION_SHARE}cqh)`
      answer.style.minHeight = `calc(100cqh - ${question} - ${between}px - ${2 * EDGE_PIXELS}px)`
    }
    // More than enough while the rows are measured: in a shorter thread, measuring would move the reader up.
    answer.style.minHeight = '100cqh'
    makeRoom()
    // In a short thread, the position has moved while the stored rows took the place of the sent one.
    if (isSame) keepAgain()
    else
      keep((scroller) => {
        const asking = shown.current?.row
        return asking == null ? scroller.scrollTop : positionOf(asking, scroller)
      })
    const observer = new ResizeObserver(makeRoom)
    for (const one of rows.slice(rows.indexOf(row))) if (one !== answer) observer.observe(one)
    return () => {
      observer.disconnect()
      answer.style.minHeight = ''
    }
  }, [content, asked, isOnItsWay, last?.id, keep, keepAgain, toEnd])
}
