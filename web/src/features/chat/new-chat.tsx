// The home page's new chat: a greeting, the composer and a few suggestions.
import { useQueryClient } from '@tanstack/react-query'
import {
  Calculator,
  Clock,
  Code,
  FileText,
  FolderSearch,
  Ghost,
  Lightbulb,
  NotebookPen,
  Sparkles,
} from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { useModels } from '../../lib/api/catalog.ts'
import { insertIntoComposer } from '../../lib/browser/composer-insert.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { readLastModel } from '../../lib/preferences/last-model.ts'
import { classNames } from '../../ui/class-names.ts'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { reportError } from '../../ui/states/error-text.ts'
import { lateView, prefetch } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'
import type { ChatOptions } from './chat-options.ts'
import { secondModels, setComparison } from './compare/comparisons.ts'
import { Composer, composerPlaceClass } from './composer/composer.tsx'
import { moveDraft } from './composer/moved-draft.ts'
import type { Draft } from './composer/use-send-once.ts'
import { randomId } from './random-id.ts'
import {
  hideOutgoing,
  type Outgoing,
  outgoingOf,
  showOutgoing,
  useOutgoing,
} from './sending/outgoing.ts'
import { OutgoingMessage } from './sending/outgoing-message.tsx'
import { useNewConversation } from './use-new-conversation.ts'

const OfflineMessages = lateView(() =>
  import('./queue/offline-messages.tsx').then((module) => module.OfflineMessages),
)

/** Loads the code that sends messages. */
const loadSending = () =>
  import('./runs/start-run.ts').catch(() => {
    throw new ApiError(0, 'offline')
  })
prefetch(loadSending)

/** What the demo answers, and what only a real model can. */
const DEMO_SUGGESTIONS = [
  { key: 'tour', icon: Sparkles },
  { key: 'time', icon: Clock },
  { key: 'sum', icon: Calculator },
] as const
const MODEL_SUGGESTIONS = [
  { key: 'text', icon: Lightbulb },
  { key: 'report', icon: NotebookPen, needsMore: true },
  { key: 'pdf', icon: FileText, needsMore: true },
  { key: 'code', icon: Code, needsMore: true },
] as const
/** Only in a project. */
const PROJECT_SUGGESTION = { key: 'files', icon: FolderSearch } as const

type Suggestion =
  | (typeof DEMO_SUGGESTIONS)[number]
  | (typeof MODEL_SUGGESTIONS)[number]
  | typeof PROJECT_SUGGESTION

/** Suggestions of which none fails with what is set up. */
const suggestionsFor = (isDemo: boolean, inProject: boolean): Suggestion[] => [
  ...(isDemo ? DEMO_SUGGESTIONS : MODEL_SUGGESTIONS),
  ...(inProject ? [PROJECT_SUGGESTION] : []),
]

const suggestionClass =
  'inline-flex h-9 items-center gap-2 rounded-full border border-line px-3.5 text-compact text-soft transition-colors hover:border-line-strong hover:bg-hover hover:text-ink'

const DRAFT_KEY = 'new'

const greetingOf = (hour: number) =>
  hour < 5 ? 'night' : hour < 12 ? 'morning' : hour < 18 ? 'afternoon' : 'evening'

/**
 * `notice` is shown above the greeting, for example that no model is set up. The first message creates the conversation; from the
 * moment it is sent, the view looks like this conversation, so that nothing moves when it opens.
 */
export function NewChat({
  menu,
  loadChat,
  projectId,
  projectModel,
  projectPicker,
  heading,
  starters = [],
  notice,
  waiting,
  below,
}: {
  /** The button that shows the sidebar; null while the sidebar is visible. */
  menu: ReactNode
  /** Loads the code of the view of a conversation. */
  loadChat: () => Promise<void>
  projectId: ProjectId | null
  /** The default model of new conversations in the project. */
  projectModel: string | null
  projectPicker: ReactNode
  /** Instead of the greeting. */
  heading?: ReactNode
  /** Messages to begin with, instead of the suggestions. */
  starters?: readonly { title: string; text: string }[]
  notice?: ReactNode
  /** What waits for the person, below the message field until a message is sent. */
  waiting?: ReactNode
  /** What is shown last, until a message is sent. */
  below?: ReactNode
}) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const { data: models } = useModels()
  const [chosen, setOptions] = useState<ChatOptions>({
    model: null,
    thinking: null,
    tools: true,
    approval: null,
    secondModel: null,
  })
  // A project has its own model. The last chosen model may no longer be offered.
  const preferredModel = chosen.model ?? (projectId === null ? readLastModel() : projectModel)
  const model = models?.some(({ id }) => id === preferredModel) === true ? preferredModel : null
  const options = { ...chosen, model }
  const isDemo = models?.some(({ demo }) => demo) === true
  // What can be suggested depends on the models.
  const suggestions = models === undefined ? [] : suggestionsFor(isDemo, projectId !== null)
  const hour = useMemo(() => new Date().getHours(), [])

  const [temporary, setTemporary] = useState(false)
  const newConversation = useNewConversation(projectId, options, temporary)

  const outgoing = useOutgoing(DRAFT_KEY)
  /** The message that has been accepted, until its conversation opens. */
  const [accepted, setAccepted] = useState<Outgoing | null>(null)
  const shown = accepted ?? outgoing

  const start = async (draft: Draft, clientId: string): Promise<boolean> => {
    try {
      const [conversation, { startRun, writtenFields }] = await Promise.all([
        newConversation.open(),
        loadSending(),
      ])
      setAccepted(outgoingOf(DRAFT_KEY))
      const first = await startRun(
        client,
        conversation.id,
        {
          kind: 'send',
          files: draft.files,
          body: { ...writtenFields(draft, projectId), tools_enabled: options.tools },
        },
        clientId,
      )
      const { secondModel: second } = options
      if (second !== null) {
        secondModels.set(conversation.id, second)
        setComparison(conversation.id, { id: randomId(), first, second: null, model: second })
      }
      newConversation.accept()
      await loadChat()
      await moveDraft(DRAFT_KEY, conversation.id)
      navigate(paths.conversation(conversation.id))
      return true
    } catch (error) {
      setAccepted(null)
      if (await queueForLater(error, draft, clientId)) return true
      reportError(error)
      // The message may have arrived although the connection broke, so the conversation stays for the next attempt.
      if (!(error instanceof ApiError && error.status === 0)) newConversation.discard()
      return false
    }
  }

  /** Queues a message that did not reach the server. Resolves with false if that is not possible. */
  const queueForLater = async (
    error: unknown,
    draft: Draft,
    clientId: string,
  ): Promise<boolean> => {
    const isUnreached = error instanceof ApiError && error.status === 0
    // A temporary conversation must store nothing, not even a queued message.
    if (!isUnreached || temporary) return false
    const message = { id: clientId, ...draft, tools: options.tools, parent: null, waits: false }
    try {
      const { enqueue, NEW_CONVERSATIONS } = await import('./queue/queued-messages.ts')
      enqueue(NEW_CONVERSATIONS, {
        ...message,
        begins: {
          settings: newConversation.settings(),
          secondModel: options.secondModel,
          id: newConversation.accept(),
        },
      })
      return true
    } catch {
      return false // this code was never loaded
    }
  }

  const startWith = async (text: string): Promise<void> => {
    const clientId = randomId()
    showOutgoing(DRAFT_KEY, { clientId, text, files: [], messageId: null })
    await start({ text, files: [] }, clientId)
    hideOutgoing(DRAFT_KEY, clientId)
  }

  // The same elements in both layouts, so that the composer keeps its focus and what an input method composes.
  return (
    <>
      {(menu !== null || shown !== null) && (
        <div className="flex h-13 shrink-0 items-center px-3 short:h-10">{menu}</div>
      )}
      <div
        className={classNames(
          'flex min-h-0 flex-1 flex-col',
          shown === null && '@container-size overflow-y-auto',
        )}
      >
        <div
          className={
            shown === null
              ? 'mx-auto flex w-full max-w-2xl flex-col px-4 pb-10'
              : 'flex min-h-0 w-full flex-1 flex-col'
          }
        >
          {shown !== null ? (
            <ScrollRegion
              as="section"
              aria-label={t('chat.messages')}
              className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable_both-edges] pt-4"
            >
              <OutgoingMessage outgoing={shown} />
            </ScrollRegion>
          ) : (
            // At the same position as the field of index.html, whatever is around it.
            <div className="flex min-h-[calc(50cqh-4rem)] flex-col justify-end pt-4">
              <h1 className="mb-7 text-center font-display text-[2.1rem] leading-tight tracking-[-0.02em] text-balance max-sm:text-3xl">
                {heading ?? t(`home.greeting.${greetingOf(hour)}`)}
              </h1>
              <PartBoundary fallback={null} isOver>
                <OfflineMessages />
              </PartBoundary>
            </div>
          )}
          <div className={shown === null ? undefined : composerPlaceClass}>
            <Composer
              draftKey={DRAFT_KEY}
              projectId={projectId}
              options={options}
              onOptions={(change) => setOptions((old) => ({ ...old, ...change }))}
              running={false}
              sending={shown !== null}
              onSend={start}
              onStop={() => undefined}
              {...(shown === null ? { leading: projectPicker } : {})}
              autoFocus
            />
          </div>
          {shown === null && (
            <>
              {waiting}
              <div className="mt-3 flex flex-wrap items-center justify-center gap-x-2.5 gap-y-1 text-note">
                <button
                  type="button"
                  aria-pressed={temporary}
                  className={classNames(
                    'touch-target inline-flex h-8 items-center gap-1.5 rounded-full border px-3 transition-colors',
                    temporary
                      ? 'border-accent bg-accent-soft font-medium text-accent'
                      : 'border-transparent text-muted hover:bg-hover hover:text-ink',
                  )}
                  onClick={() => setTemporary(!temporary)}
                >
                  <Ghost size={14} aria-hidden />
                  {t('home.temporary')}
                </button>
                {temporary && <span className="text-muted">{t('home.temporaryText')}</span>}
              </div>
              <ul
                className="mt-4 flex flex-wrap justify-center gap-2"
                aria-label={t('home.suggestions')}
              >
                {starters.map(({ title, text }) => (
                  <li key={`${title} ${text}`}>
                    <button
                      type="button"
                      title={text}
                      className={suggestionClass}
                      onClick={() => void startWith(text)}
                    >
                      {title}
                    </button>
                  </li>
                ))}
                {(starters.length > 0 ? [] : suggestions).map(({ key, icon: Icon, ...rest }) => (
                  <li key={key}>
                    <button
                      type="button"
                      className={suggestionClass}
                      onClick={() => {
                        const text = t(`home.try.${key}.text`)
                        // What it is about is missing: the user goes on writing.
                        if ('needsMore' in rest) insertIntoComposer(text)
                        else void startWith(text)
                      }}
                    >
                      <Icon size={14} aria-hidden className="text-muted" />
                      {t(`home.try.${key}.label`)}
                    </button>
                  </li>
                ))}
              </ul>
              {isDemo && notice}
              {below}
            </>
          )}
        </div>
      </div>
    </>
  )
}
