// The list of messages: the newest first loaded, older ones when the user scrolls up.

import { ArrowDown } from 'lucide-react'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../../lib/newest.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'
import { Spinner } from '../../../ui/states/feedback.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { useBackgroundTasks } from '../background/api/background.ts'
import { useComparison } from '../compare/comparisons.ts'
import { useOutgoing } from '../sending/outgoing.ts'
import { OutgoingMessage } from '../sending/outgoing-message.tsx'
import { AnswerMessage } from './answer-message.tsx'
import { LateComparison } from './late-comparison.tsx'
import type { MessageActions } from './message-actions.ts'
import { QuietRun } from './quiet-run.tsx'
import { QuoteButton } from './quote-button.tsx'
import { useMessageTarget } from './use-message-target.ts'
import { usePreservedFocus } from './use-preserved-focus.ts'
import { useScrollPosition } from './use-scroll-position.ts'
import { useTurnPosition } from './use-turn-position.ts'
import { UserMessage } from './user-message.tsx'

/** Safari does not keep the scroll position when content is inserted above. */
const keepsPlace = CSS.supports('overflow-anchor', 'auto')

/** Loads older messages near the top, and keeps the scroll position when they arrive. */
function useOlder(
  scroller: RefObject<HTMLElement | null>,
  firstId: string | undefined,
  hasOlder: boolean,
  loadOlder: () => void,
) {
  const sentinel = useRef<HTMLDivElement>(null)
  const first = useRef<{ row: HTMLElement; top: number } | null>(null)
  const load = useNewest(loadOlder)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new first message means that older ones were inserted
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    // Browsers with scroll anchoring do not apply it at the very top.
    if (first.current?.row.isConnected === true && (!keepsPlace || element.scrollTop < 4))
      element.scrollTop += first.current.row.offsetTop - first.current.top
    const row = element.querySelector<HTMLElement>('[data-message]')
    first.current = row === null ? null : { row, top: row.offsetTop }
  }, [firstId, scroller])
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a page has arrived, the top may still be in view
  useEffect(() => {
    const element = sentinel.current
    if (element === null || !hasOlder) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) load.current()
      },
      { root: scroller.current, rootMargin: '900px 0px 0px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [hasOlder, firstId, scroller])
  return sentinel
}

const isQuietQuestion = (message: Message | undefined): boolean =>
  message?.quiet === true && message.role === 'user'

/** The message under which a folded run is opened; null for what is not folded. */
const quietKey = (messages: readonly Message[], index: number): MessageId | null => {
  const message = messages[index]
  if (message?.quiet !== true) return null
  const before = messages[index - 1]
  return message.role === 'assistant' && before !== undefined && isQuietQuestion(before)
    ? before.id
    : message.id
}

const isCompared = (comparison: ReturnType<typeof useComparison>, { id }: Message): boolean =>
  comparison?.first === id || comparison?.second === id

/** The shown branch. A new question stands at the top while its answer grows, unless the reader scrolls. */
export function MessageList({
  messages,
  conversationId,
  locked,
  edited,
  hasOlder,
  loadOlder,
  actions,
}: {
  messages: readonly Message[]
  conversationId: string
  /** Whether a run is active: the branch must not change. */
  locked: boolean
  /** The id of the message that is being edited. */
  edited: MessageId | null
  hasOlder: boolean
  loadOlder: () => void
  actions: MessageActions
}) {
  const { t } = useTranslation()
  const comparison = useComparison(conversationId)
  const { data: tasks } = useBackgroundTasks(conversationId)
  /** Runs with nothing to report that a person has opened. */
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string): void =>
    setOpened((old) => new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id]))
  /** The message whose actions a touch screen shows. */
  const [tapped, setTapped] = useState<string | null>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { isAway, toEnd, keep, keepAgain, release } = useScrollPosition(scroller, content)
  usePreservedFocus(content)
  const sentinel = useOlder(scroller, messages[0]?.id, hasOlder, loadOlder)
  useMessageTarget(conversationId, messages, scroller, { hasOlder, loadOlder, release })
  const sent = useOutgoing(conversationId)
  const isStored = messages.some(({ id }) => id === sent?.messageId)
  const outgoing = isStored ? null : sent
  useTurnPosition(content, messages, sent, { keep, keepAgain, toEnd })
  return (
    <div className="relative min-h-0 flex-1">
      <ScrollRegion
        as="section"
        ref={scroller}
        aria-label={t('chat.messages')}
        className="@container-size h-full overflow-y-auto [scrollbar-gutter:stable_both-edges] bg-paper -outline-offset-2 will-change-scroll"
      >
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: focus shows the actions, too */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: only for touch */}
        <div
          ref={content}
          className="flex flex-col pt-4 pb-4"
          onClick={({ target }) => {
            if (!(target instanceof Element)) return
            setTapped(target.closest('[data-message]')?.getAttribute('data-message') ?? null)
          }}
        >
          {hasOlder && (
            <div ref={sentinel} className="flex justify-center py-3">
              <Spinner />
            </div>
          )}
          {messages.map((message, index) => {
            const quiet = quietKey(messages, index)
            const isFolded = quiet !== null && !opened.has(quiet)
            return (
              <div
                key={message.id}
                data-message={message.id}
                data-tapped={tapped === message.id ? '' : undefined}
                className={classNames(
                  'message-row',
                  isCompared(comparison, message) && 'message-row-compared',
                  !isFolded && (message.role === 'user' ? 'pt-2 pb-1' : 'pt-1 pb-4'),
                  !isFolded && index < messages.length - 4 && 'lazy-row',
                )}
              >
                {quiet === message.id && (
                  <QuietRun
                    at={message.created_at}
                    isOpen={!isFolded}
                    onToggle={() => toggle(quiet)}
                  />
                )}
                {!isFolded && (
                  <PartBoundary subject={message}>
                    <OneMessage
                      message={message}
                      conversationId={conversationId}
                      comparison={comparison}
                      task={tasks?.find((task) => task.message_id === message.id)?.task ?? null}
                      locked={locked}
                      isLast={index === messages.length - 1}
                      editing={edited === message.id}
                      actions={actions}
                    />
                  </PartBoundary>
                )}
              </div>
            )
          })}
          {outgoing !== null && <OutgoingMessage outgoing={outgoing} />}
        </div>
      </ScrollRegion>
      <QuoteButton scroller={scroller} />
      <div
        aria-hidden
        className="pointer-events-none absolute inset-x-0 bottom-0 me-3 h-8 bg-linear-to-t from-paper to-transparent"
      />
      {isAway && (
        <button
          type="button"
          aria-label={t('chat.toEnd')}
          className="absolute bottom-3 left-1/2 grid size-9 -translate-x-1/2 animate-appear place-items-center rounded-full border border-line-strong bg-surface text-soft shadow-float hover:bg-hover"
          onClick={toEnd}
        >
          <ArrowDown size={17} aria-hidden />
        </button>
      )}
    </div>
  )
}

function OneMessage({
  message,
  conversationId,
  comparison,
  task,
  locked,
  isLast,
  editing,
  actions,
}: {
  message: Message
  conversationId: string
  comparison: ReturnType<typeof useComparison>
  /** What the background task was asked whose end this message announces; null for others. */
  task: string | null
  locked: boolean
  isLast: boolean
  editing: boolean
  actions: MessageActions
}) {
  if (message.role === 'user')
    return (
      <UserMessage
        message={message}
        locked={locked}
        editing={editing}
        onEditing={actions.setEdited}
        onEdit={actions.edit}
        onDelete={actions.remove}
        onShow={actions.show}
      />
    )
  if (comparison !== null && isCompared(comparison, message))
    return (
      <PartBoundary fallback={<Spinner />}>
        <LateComparison
          comparison={comparison}
          conversationId={conversationId}
          shown={message}
          locked={locked}
          actions={actions}
        />
      </PartBoundary>
    )
  return (
    <AnswerMessage
      message={message}
      conversationId={conversationId}
      task={task}
      locked={locked}
      isLast={isLast}
      editing={editing}
      actions={actions}
    />
  )
}
