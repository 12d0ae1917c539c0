// The view of one conversation: its messages, its active run and the composer.
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import type { MessageId } from '../../../../server/protocol/ids.ts'
import {
  filesOf,
  isDeletedHere,
  useConversation,
  usePatchConversation,
} from '../../lib/api/conversations.ts'
import { messageKeys, useMessages } from '../../lib/api/messages.ts'
import { isComposing } from '../../lib/browser/composing.ts'
import { FirstScreenReady } from '../../lib/browser/first-screen.tsx'
import { useCommand } from '../../lib/commands.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useNextPage } from '../../lib/http/next-page.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useOffline } from '../../lib/offline/connection.ts'
import { paths } from '../../lib/paths.ts'
import { CodeActionsContext } from '../../ui/markdown/code-actions.ts'
import { notify } from '../../ui/overlays/toasts.ts'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { LateFile } from './attachments/late-file.tsx'
import { BackgroundTasks } from './background/background-tasks.tsx'
import { LateBranches } from './branches/late-branches.tsx'
import { showBranches } from './branches/shown-branches.ts'
import type { ChatOptions } from './chat-options.ts'
import { secondModels } from './compare/comparisons.ts'
import { Composer, composerPlaceClass } from './composer/composer.tsx'
import { ConversationContext } from './conversation-context.ts'
import { conversationPatch } from './conversation-patch.ts'
import { DeleteMessageDialog } from './delete-message-dialog.tsx'
import { inspectRun } from './inspected-run.ts'
import { LateInspector } from './inspector/late-inspector.tsx'
import { MessageList } from './messages/message-list.tsx'
import { HiddenDecisions } from './messages/pending-decisions.tsx'
import { MessengerLine } from './messenger-line.tsx'
import { MissingConversation } from './missing-conversation.tsx'
import { useCodeActions } from './programs/code-actions.ts'
import { QueueList } from './queue/queue-list.tsx'
import { enqueue, enqueueFirst } from './queue/queued-messages.ts'
import { Announcer } from './runs/announcer.tsx'
import { useIsRunning } from './runs/live-runs.ts'
import { useAttach } from './runs/use-attach.ts'
import { useRunActions, type Written } from './runs/use-run-actions.ts'
import { ScheduleLine } from './schedule-line.tsx'
import { outgoingOf } from './sending/outgoing.ts'
import { useMarkSeen } from './use-mark-seen.ts'

/** Conversations without tools. The server does not store this choice; it lasts until the page closes. */
const toolsOff = new Set<string>()

function useOptions(conversation: Conversation) {
  const patch = usePatchConversation()
  const [tools, setTools] = useState(!toolsOff.has(conversation.id))
  const [secondModel, setSecondModel] = useState(secondModels.get(conversation.id) ?? null)
  const { id, model, thinking_enabled: thinking, approval } = conversation
  const options = useMemo<ChatOptions>(
    () => ({ model, thinking, approval, tools, secondModel }),
    [model, thinking, approval, tools, secondModel],
  )
  const change = (next: Partial<ChatOptions>): void => {
    if (next.tools !== undefined) {
      setTools(next.tools)
      if (next.tools) toolsOff.delete(id)
      else toolsOff.add(id)
    }
    if (next.secondModel !== undefined) {
      setSecondModel(next.secondModel)
      if (next.secondModel === null) secondModels.delete(id)
      else secondModels.set(id, next.secondModel)
    }
    const body = conversationPatch(next)
    if (Object.keys(body).length > 0) patch.mutate({ id, ...body })
  }
  return { options, change }
}

/** Goes to the home page when the open conversation is deleted. Returns true while navigating. */
function useLeaveDeleted(id: string, { data, error }: ReturnType<typeof useConversation>): boolean {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const deleted = data !== undefined && error instanceof ApiError && error.status === 404
  useEffect(() => {
    if (!deleted) return
    if (!isDeletedHere(id)) notify(t('conversation.deletedElsewhere'))
    navigate(paths.home, { replace: true })
  }, [deleted, id, navigate, t])
  return deleted
}

/** `header` and `aside` render parts of other features once the conversation has loaded. */
export function ChatView({
  id,
  menu,
  loading,
  header,
  aside,
}: {
  id: string
  /** The button that shows the sidebar, for a conversation that cannot be shown. */
  menu: ReactNode
  /** Shown until the conversation has loaded. */
  loading: ReactNode
  header: (conversation: Conversation) => ReactNode
  aside: (conversation: Conversation) => ReactNode
}) {
  const conversation = useConversation(id)
  const leaving = useLeaveDeleted(id, conversation)
  if (conversation.isPending || leaving) return loading
  if (conversation.isLoadingError)
    return (
      <MissingConversation
        menu={menu}
        error={conversation.error}
        onRetry={() => void conversation.refetch()}
      />
    )
  return (
    <OpenConversation
      conversation={conversation.data}
      header={header(conversation.data)}
      aside={aside(conversation.data)}
    />
  )
}

/** Makes Escape stop the run, unless a closer element handles the key. */
function useEscapeToStop(isRunning: boolean, stop: () => Promise<unknown>): void {
  useEffect(() => {
    if (!isRunning) return
    const onKey = (event: KeyboardEvent): void => {
      // While an input method composes, Escape belongs to it.
      if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return
      // In an approval card, Escape concerns only the card.
      if (document.activeElement?.closest('[data-approval]') != null) return
      // An open menu or dialog handles the key itself.
      if (document.querySelector('[role="dialog"],[role="alertdialog"],[role="menu"]') === null)
        void stop()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isRunning, stop])
}

/** Returns the function that shows the branch with a message. */
function useShowMessage(id: string): (messageId: MessageId) => void {
  const client = useQueryClient()
  const patch = usePatchConversation()
  return useCallback(
    (messageId: MessageId) => {
      patch.mutate(
        { id, ...conversationPatch({ leaf: messageId }) },
        { onSuccess: () => client.invalidateQueries({ queryKey: messageKeys.list(id) }) },
      )
    },
    [patch.mutate, id, client],
  )
}

function OpenConversation({
  conversation,
  header,
  aside,
}: {
  conversation: Conversation
  header: ReactNode
  aside: ReactNode
}) {
  const { id } = conversation
  const client = useQueryClient()
  const messages = useMessages(id)
  const loadOlder = useNextPage(messageKeys.list(id), messages.fetchNextPage)
  const { options, change } = useOptions(conversation)
  const run = useRunActions(id, options, filesOf(conversation))
  const [toDelete, setToDelete] = useState<string | null>(null)
  useAttach(client, id, conversation)
  useMarkSeen(conversation)
  const running = useIsRunning(id)
  const lastRun = messages.data?.findLast(({ run_id: runId }) => runId != null)?.run_id ?? null
  useCommand('runInspector', lastRun === null ? null : () => inspectRun(lastRun))
  useCommand('branches', () => showBranches(true))
  useCommand('stop', running ? () => void run.stop() : null)

  useEscapeToStop(running, run.stop)

  const show = useShowMessage(id)
  const [edited, setEdited] = useState<MessageId | null>(null)
  const send = async (written: Written, clientId: string): Promise<boolean> => {
    const isUnreachable = (): boolean => useOffline.getState().isOffline
    const isFollowing = outgoingOf(id) !== null && outgoingOf(id)?.clientId !== clientId
    const isTried = !running && !isFollowing && !isUnreachable()
    if (isTried) {
      const isSent = await run.send(written, clientId)
      // The message may be what shows that the connection is gone.
      if (isSent || !isUnreachable()) return isSent
    }
    const last = messages.data?.at(-1)
    // What was written while it was tried comes after it.
    const keep = isTried ? enqueueFirst : enqueue
    keep(id, {
      id: clientId,
      ...written,
      tools: options.tools,
      parent: !isFollowing && last?.role === 'assistant' ? last.id : null,
      waits: running || isFollowing,
    })
    return true
  }
  const recall = (): void => {
    const last = messages.data?.findLast(({ role }) => role === 'user')
    if (last !== undefined && !running) setEdited(last.id)
  }
  const actions = useMemo(
    () => ({
      ...run,
      remove: setToDelete,
      show,
      setEdited,
    }),
    [run, show],
  )
  const place = useMemo(
    () => ({ conversationId: id, projectId: filesOf(conversation) }),
    [id, conversation],
  )
  // When the tools are known, the buttons of all code blocks appear. Deferred, so that they do not delay user input.
  const codeActions = useDeferredValue(useCodeActions())
  return (
    <ConversationContext value={place}>
      <div className="flex min-h-0 flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          {header}
          <ScheduleLine scheduleId={conversation.schedule_id} />
          <MessengerLine channel={conversation.channel} />
          {!messages.isPending && <FirstScreenReady />}
          {messages.isPending ? (
            <div className="flex-1">
              <Loading />
            </div>
          ) : messages.isLoadingError ? (
            <div className="flex-1">
              <Failed message={errorText(messages.error)} onRetry={() => void messages.refetch()} />
            </div>
          ) : (
            <CodeActionsContext value={codeActions}>
              <MessageList
                messages={messages.data}
                conversationId={id}
                locked={running}
                edited={edited}
                hasOlder={messages.hasNextPage}
                loadOlder={() => void loadOlder()}
                actions={actions}
              />
            </CodeActionsContext>
          )}
          <div className={composerPlaceClass}>
            <BackgroundTasks conversationId={id} />
            {messages.data !== undefined && (
              <HiddenDecisions conversationId={id} messages={messages.data} />
            )}
            <QueueList conversationId={id} running={running} onStop={run.stop} />
            <Composer
              key={id}
              draftKey={id}
              projectId={filesOf(conversation)}
              options={options}
              onOptions={change}
              running={running}
              onSend={send}
              onRecall={recall}
              onStop={() => void run.stop()}
              autoFocus
            />
          </div>
          <LateInspector activeRunIds={[conversation.active_run_id, conversation.beside_run_id]} />
          <LateFile />
          <LateBranches conversationId={id} locked={running} onShow={show} />
          <Announcer conversationId={id} />
          <DeleteMessageDialog
            conversationId={id}
            messageId={toDelete}
            onClose={() => setToDelete(null)}
          />
        </div>
        {aside}
      </div>
    </ConversationContext>
  )
}
