// The actions on a conversation's runs (send, edit, regenerate, stop, resume); errors are shown to the user.
import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { StoredAttachment } from '../../../../../server/protocol/conversations/message.ts'
import type { ProjectId } from '../../../../../server/protocol/ids.ts'
import { isOnBranch, showBranch } from '../../../lib/api/messages.ts'
import { stopRun } from '../../../lib/api/runs.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { fieldsOf, textIn } from '../../../lib/read-json.ts'
import { reportError } from '../../../ui/states/error-text.ts'
import type { AttachedFile } from '../attachments/attachments.ts'
import type { ChatOptions } from '../chat-options.ts'
import { type Comparison, comparisonWith, setComparison } from '../compare/comparisons.ts'
import { randomId } from '../random-id.ts'
import { announceAnswer } from '../sending/outgoing.ts'
import { follow } from './follow-run.ts'
import { activeRunsIn, useLiveRuns } from './live-runs.ts'
import { continueRun, startRun, writtenFields } from './start-run.ts'

/** A message as the user wrote it, with its uploaded files. */
export type Written = { text: string; files: readonly AttachedFile[] }

/** The options as body fields of send, edit and regenerate. */
const bodyOptions = (options: ChatOptions) => ({
  tools_enabled: options.tools,
  ...(options.model === null ? {} : { model: options.model }),
})

/** The active run because of which the server refused another one. */
const runInTheWay = (error: unknown): string | undefined =>
  error instanceof ApiError ? textIn(fieldsOf(error.details).run_id) : undefined

/** Resolves when the run is no longer active, as far as the page knows. */
const untilEnded = (runId: string): Promise<void> =>
  new Promise((resolve) => {
    const isEnded = (): boolean => useLiveRuns.getState().byId[runId]?.state !== 'running'
    if (isEnded()) return resolve()
    const unsubscribe = useLiveRuns.subscribe(() => {
      if (!isEnded()) return
      unsubscribe()
      resolve()
    })
  })

/**
 * Returns the actions for these options, in an object that changes only with the arguments. Actions that start a run
 * resolve with whether the server accepted it.
 */
export function useRunActions(
  conversationId: string,
  options: ChatOptions,
  /** Where its files are, and its skills. */
  place: ProjectId | null,
) {
  const client = useQueryClient()
  return useMemo(() => {
    const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
      try {
        await work()
        return true
      } catch (error) {
        // A run is already active, perhaps started on another device: show it.
        const runId = runInTheWay(error)
        if (runId !== undefined) void follow({ conversationId, runId, client })
        reportError(error)
        return false
      }
    }
    const stop = () =>
      attempt(() =>
        Promise.all(
          activeRunsIn(useLiveRuns.getState(), conversationId).map(({ runId }) => stopRun(runId)),
        ),
      )
    const regenerate = (messageId: string, model?: string) =>
      attempt(() =>
        startRun(
          client,
          conversationId,
          {
            kind: 'regenerate',
            messageId,
            body: { ...bodyOptions(options), ...(model === undefined ? {} : { model }) },
          },
          randomId(),
        ),
      )
    return {
      send: (written: Written, clientId: string, projectId?: ProjectId) =>
        attempt(async () => {
          const first = await startRun(
            client,
            conversationId,
            {
              kind: 'send',
              files: written.files,
              body: {
                ...writtenFields(written, place),
                ...bodyOptions(options),
                ...(projectId === undefined ? {} : { project_id: projectId }),
              },
            },
            clientId,
          )
          const { secondModel: model } = options
          if (model !== null)
            setComparison(conversationId, { id: randomId(), first, second: null, model })
        }),
      /**
       * Makes a second model answer too, at the same time as the first. Resolves with false if it has to wait, because the user or
       * the conversation may not have more runs at once.
       */
      async compare(comparison: Comparison, model: string): Promise<boolean> {
        const isFirst = activeRunsIn(useLiveRuns.getState(), conversationId).length === 0
        try {
          const body = { ...bodyOptions(options), model, beside: true }
          const second = await startRun(
            client,
            conversationId,
            { kind: 'regenerate', messageId: comparison.first, body },
            comparison.id,
          )
          setComparison(conversationId, { ...comparison, second })
        } catch (error) {
          if (!isFirst && error instanceof ApiError && error.reason === 'runs_exhausted')
            return false
          // Another question is being answered, or two answers to this one are being written.
          const runId = runInTheWay(error)
          if (runId !== undefined) {
            void follow({ conversationId, runId, client })
            return false
          }
          reportError(error)
          setComparison(conversationId, { ...comparison, model: null })
        }
        return true
      },
      edit: (messageId: string, text: string, attachments: readonly StoredAttachment[]) =>
        attempt(() =>
          startRun(
            client,
            conversationId,
            { kind: 'edit', messageId, attachments, body: { text, ...bodyOptions(options) } },
            randomId(),
          ),
        ),
      /** `model` is a model for this answer only, instead of the conversation's. */
      regenerate,
      /**
       * Stops this answer and writes it again with another model, at the same place: a second one that is being written beside it
       * goes on, and a comparison shows the new one.
       */
      switchModel: (messageId: string, model: string) =>
        attempt(async () => {
          const active = () => activeRunsIn(useLiveRuns.getState(), conversationId)
          const run = active().find((each) => each.messageId === messageId)
          if (run !== undefined) {
            await stopRun(run.runId)
            await untilEnded(run.runId)
          }
          const comparison = comparisonWith(conversationId, messageId)
          const isShown = isOnBranch(client, conversationId, messageId)
          const beside = active().length > 0 || !isShown
          const body = { ...bodyOptions(options), model, ...(beside ? { beside } : {}) }
          const request = { kind: 'regenerate', messageId, body } as const
          const answer = await startRun(client, conversationId, request, randomId())
          if (beside && isShown) {
            announceAnswer({ conversationId, parent: messageId, answer })
            await showBranch(client, conversationId, answer)
          }
          if (comparison === null) return
          const place = comparison.first === messageId ? 'first' : 'second'
          setComparison(conversationId, { ...comparison, [place]: answer })
        }),
      resume: (runId: string) => attempt(() => continueRun(client, conversationId, runId)),
      stop,
      stopOne: (runId: string) => attempt(() => stopRun(runId)),
    }
  }, [client, conversationId, options, place])
}

/** The result of `useRunActions`, for components that receive single actions. */
export type RunActions = ReturnType<typeof useRunActions>
