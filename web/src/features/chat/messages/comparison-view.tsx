// Two answers to one question, side by side or in tabs on narrow screens. The user chooses one to continue with.
import { Square, X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { useMessage } from '../../../lib/api/messages.ts'
import { useMedia } from '../../../lib/browser/use-media.ts'
import { shownDirection } from '../../../lib/i18n/direction.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { ScrollRegion } from '../../../ui/scroll-region.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { type Comparison, setComparison } from '../compare/comparisons.ts'
import { useLiveRuns, useRunOf, waitsForPerson } from '../runs/live-runs.ts'
import { AnswerMessage } from './answer-message.tsx'
import type { MessageActions } from './message-actions.ts'
import { SecondChoice } from './second-choice.tsx'
import { useScrollPosition } from './use-scroll-position.ts'

/** Wide enough for two columns. */
const WIDE = '(min-width: 64rem)'

const isEnded = ({ status }: Message): boolean =>
  status !== 'streaming' && status !== 'awaiting_approval' && status !== 'awaiting_input'

type Props = {
  comparison: Comparison
  conversationId: string
  /** The answer of the two that is on the shown branch. */
  shown: Message
  /** Whether a run is active. */
  locked: boolean
  actions: MessageActions
}

/**
 * Starts the second answer at once, or once other runs have ended if there may not be more at the same time. Returns whether it has
 * to wait.
 */
function useSecondAnswer({ comparison, conversationId, shown, locked, actions }: Props): boolean {
  const { id, first, second, model } = comparison
  /** The id of the comparison whose second answer has to wait. */
  const [waiting, setWaiting] = useState('')
  const isWaiting = waiting === id && locked
  const isDue = second === null && model !== null && shown.id === first && !isWaiting
  const { compare } = actions
  const started = useRef('')
  const attempt = `${id} ${waiting}`
  useEffect(() => {
    if (!isDue || model === null || started.current === attempt) return
    started.current = attempt
    // A user who stops the first answer may not want the second one.
    if (shown.status === 'stopped') setComparison(conversationId, { ...comparison, model: null })
    else
      void compare(comparison, model).then((isAccepted) => {
        if (isAccepted) return
        started.current = ''
        setWaiting(id)
      })
  }, [isDue, attempt, id, model, compare, comparison, conversationId, shown.status])
  return isWaiting
}

/** Renders both answers with `AnswerMessage`. While there is no second one, it offers models that can write it. */
export function ComparisonView(props: Props) {
  const { comparison, conversationId, shown, locked } = props
  const { t } = useTranslation()
  const isWide = useMedia(WIDE)
  const { data: models } = useModels()
  const waits = useSecondAnswer(props)
  const nameOf = (id: string | null | undefined): string | null =>
    id == null ? null : (models?.find((model) => model.id === id)?.name ?? id)
  const { first, second } = comparison
  const firstModel = useModelOf(conversationId, first, shown)
  const secondModel = useModelOf(conversationId, second, shown) ?? comparison.model
  const isChosen = second !== null || comparison.model !== null
  const places = [
    { key: 'first', id: first, title: nameOf(firstModel) ?? t('compare.first') },
    { key: 'second', id: second, title: nameOf(secondModel) ?? t('compare.second') },
  ]
  const content = (id: string | null): ReactNode =>
    id === null ? (
      <SecondChoice
        comparison={comparison}
        conversationId={conversationId}
        first={firstModel}
        siblings={shown.siblings}
        waits={waits}
      />
    ) : (
      <Side {...props} id={id} />
    )
  const close = (
    <ActionButton
      icon={X}
      label={t('compare.close')}
      onClick={() => setComparison(conversationId, null)}
    />
  )
  const hint = second !== null && !locked && (
    <p className="text-xs text-muted max-lg:mt-3">
      {t('compare.hint', { model: places.find(({ id }) => id === shown.id)?.title ?? '' })}
    </p>
  )
  if (!isWide)
    return (
      <section aria-label={t('compare.title')}>
        <Tabs.Root
          dir={shownDirection()}
          // After requesting a second answer, the user chooses its model next.
          defaultValue={shown.id === first && isChosen ? 'first' : 'second'}
        >
          {/* Stays in view, so that one can change to the other answer anywhere in a long one. */}
          <div className="sticky top-0 z-10 flex items-center gap-2 bg-paper py-1">
            <Tabs.List
              aria-label={t('compare.title')}
              className="flex min-w-0 flex-1 rounded-[10px] bg-hover p-0.5"
            >
              {places.map(({ key, id, title }) => (
                <Tabs.Trigger
                  key={key}
                  value={key}
                  className="min-h-9 min-w-0 flex-1 truncate rounded-lg px-2 text-note font-medium text-soft data-[state=active]:bg-surface data-[state=active]:text-ink data-[state=active]:shadow-low dark:data-[state=active]:bg-line-strong pointer-coarse:min-h-11"
                >
                  {title}
                  <WaitingMark answer={id} />
                </Tabs.Trigger>
              ))}
            </Tabs.List>
            {close}
          </div>
          {places.map(({ key, id }) => (
            <Tabs.Content key={key} value={key} className="pt-3">
              {content(id)}
            </Tabs.Content>
          ))}
        </Tabs.Root>
        {hint}
      </section>
    )
  return (
    <section aria-label={t('compare.title')} className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-4">
        {places.map(({ key, id, title }) => (
          <Column
            key={key}
            title={title}
            controls={
              <>
                <StopButton id={id} {...props} />
                {key === 'second' && close}
              </>
            }
          >
            {content(id)}
          </Column>
        ))}
      </div>
      {hint}
    </section>
  )
}

/** On the tab of an answer that waits for a person. */
function WaitingMark({ answer }: { answer: string | null }) {
  const { t } = useTranslation()
  const isWaiting = useLiveRuns(({ byId }) =>
    Object.values(byId).some((run) => run.messageId === answer && waitsForPerson(run)),
  )
  if (answer === null || !isWaiting) return null
  return (
    <>
      <span className="sr-only"> · {t('chat.waiting')}</span>
      <span aria-hidden className="ms-1.5 inline-block size-2 rounded-full bg-warn" />
    </>
  )
}

/**
 * A column that scrolls by itself, so that the end of a growing answer stays in view whatever the other one does. It is as high as
 * the room between a short question at the top of the view and the message field, with the hint below it.
 */
function Column({
  title,
  controls,
  children,
}: {
  title: string
  controls: ReactNode
  children: ReactNode
}) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  useScrollPosition(scroller, content)
  return (
    <section
      aria-label={title}
      className="flex max-h-[max(20rem,calc(100dvh-21.5rem))] min-w-0 flex-col rounded-2xl border border-line bg-surface"
    >
      <header className="flex min-h-12 shrink-0 items-center gap-1 ps-5 pe-3">
        <h2 className="min-w-0 flex-1 truncate text-note font-semibold text-soft">{title}</h2>
        {controls}
      </header>
      <ScrollRegion
        ref={scroller}
        role="group"
        aria-label={title}
        className="min-h-0 flex-1 overflow-y-auto rounded-b-2xl px-5 pb-4 -outline-offset-2"
      >
        <div ref={content} className="flex flex-col gap-3">
          {children}
        </div>
      </ScrollRegion>
    </section>
  )
}

/** Stops one of the two answers while it is being written. */
function StopButton({ id, conversationId, shown, actions }: Props & { id: string | null }) {
  const { t } = useTranslation()
  const stored = useMessage(conversationId, id === shown.id ? null : id)
  const message = id === shown.id ? shown : stored.data
  const live = useRunOf(message ?? { id: '' })
  if (live?.state !== 'running') return null
  return (
    <ActionButton
      icon={Square}
      label={t('composer.stop')}
      onClick={() => void actions.stopOne(live.runId)}
    />
  )
}

/** The model of an answer; null while unknown. */
function useModelOf(conversationId: string, id: string | null, shown: Message): string | null {
  const message = useMessage(conversationId, id === shown.id ? null : id).data
  return (id === shown.id ? shown.model : message?.model) ?? null
}

/** One of the two answers with its actions. */
function Side({ id, conversationId, shown, locked, actions }: Props & { id: string }) {
  const { t } = useTranslation()
  const stored = useMessage(conversationId, id === shown.id ? null : id)
  const message = id === shown.id ? shown : stored.data
  if (message === undefined)
    return stored.isError ? (
      <Failed message={errorText(stored.error)} onRetry={() => void stored.refetch()} />
    ) : (
      <Loading />
    )
  const choose = (): void => {
    setComparison(conversationId, null)
    if (id !== shown.id) actions.show(message.id)
  }
  return (
    <>
      <AnswerMessage
        // No sibling switch: the siblings are what is being compared.
        message={{ ...message, siblings: [message.id] }}
        conversationId={conversationId}
        task={null}
        locked={locked}
        isLast
        editing={false}
        actions={{
          ...actions,
          setEdited: (edited) => {
            choose()
            actions.setEdited(edited)
          },
        }}
      />
      {isEnded(message) && (
        <Button size="small" className="mt-1 self-start" disabled={locked} onClick={choose}>
          {t('compare.choose')}
        </Button>
      )}
    </>
  )
}
