// Two answers to one question, side by side or in tabs on narrow screens. The user chooses one to continue with.
import { X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Message } from '../../../../../server/protocol/conversations/message.ts'
import { useModels } from '../../../lib/api/catalog.ts'
import { useMessage } from '../../../lib/api/messages.ts'
import { useMedia } from '../../../lib/browser/use-media.ts'
import { shownDirection } from '../../../lib/i18n/languages.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import { errorText } from '../../../ui/states/error-text.ts'
import { Failed, Loading } from '../../../ui/states/feedback.tsx'
import { type Comparison, setComparison } from '../compare/comparisons.ts'
import { AnswerMessage } from './answer-message.tsx'
import type { MessageActions } from './message-actions.ts'
import { SecondChoice } from './second-choice.tsx'

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

/** Starts the second answer once the first is complete: the server writes one answer per conversation at a time. */
function useSecondAnswer({ comparison, conversationId, shown, locked, actions }: Props): void {
  const { id, first, second, model } = comparison
  const isDue = second === null && model !== null && !locked && shown.id === first && isEnded(shown)
  const { compare } = actions
  const started = useRef('')
  useEffect(() => {
    if (!isDue || model === null || started.current === id) return
    started.current = id
    // A user who stops the first answer may not want the second one.
    if (shown.status === 'stopped') setComparison(conversationId, { ...comparison, model: null })
    else void compare(comparison, model)
  }, [isDue, id, model, compare, comparison, conversationId, shown.status])
}

/** Renders both answers with `AnswerMessage`. While there is no second one, it offers models that can write it. */
export function ComparisonView(props: Props) {
  const { comparison, conversationId, shown, locked } = props
  const { t } = useTranslation()
  const isWide = useMedia(WIDE)
  const { data: models } = useModels()
  useSecondAnswer(props)
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
        locked={locked}
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
          <div className="flex items-center gap-2">
            <Tabs.List
              aria-label={t('compare.title')}
              className="flex min-w-0 flex-1 rounded-[10px] bg-hover p-0.5"
            >
              {places.map(({ key, title }) => (
                <Tabs.Trigger
                  key={key}
                  value={key}
                  className="min-h-9 min-w-0 flex-1 truncate rounded-lg px-2 text-note font-medium text-soft data-[state=active]:bg-surface data-[state=active]:text-ink data-[state=active]:shadow-low pointer-coarse:min-h-11"
                >
                  {title}
                </Tabs.Trigger>
              ))}
            </Tabs.List>
            {close}
          </div>
          {places.map(({ key, id }) => (
            <Tabs.Content key={key} value={key} className="pt-4">
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
          <section
            key={key}
            aria-label={title}
            className="flex min-w-0 flex-col gap-3 rounded-2xl border border-line bg-surface px-5 py-4"
          >
            <header className="flex min-h-7 items-center gap-2">
              <h2 className="min-w-0 flex-1 truncate text-note font-semibold text-soft">{title}</h2>
              {key === 'second' && close}
            </header>
            {content(id)}
          </section>
        ))}
      </div>
      {hint}
    </section>
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
        onRegenerate={actions.regenerate}
        onResume={actions.resume}
        onStop={actions.stop}
        onSwitch={actions.switchModel}
        onDelete={actions.remove}
        onShow={actions.show}
        editing={false}
        onEditing={(edited) => {
          choose()
          actions.setEdited(edited)
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
