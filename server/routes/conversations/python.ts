// The route by which a person runs a Python program of a conversation.
import { z } from 'zod'
import type { ConversationRepository } from '../../db/repositories/conversations/conversations.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { Slots } from '../../lib/limits.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId, type ProjectId, type UserId } from '../../protocol/ids.ts'
import { PythonOutcome, RunPythonBody } from '../../protocol/programs/python.ts'
import { success } from '../envelope.ts'

const RETRY_SECONDS = 5

/** The dependencies of the route for programs. */
export interface PythonRouteDependencies {
  conversations: Pick<ConversationRepository, 'find'>
  /** Runs a program until it ends or `signal` is aborted. */
  run(
    program: z.output<typeof RunPythonBody>,
    place: { userId: UserId; projectId: ProjectId | null },
    signal: AbortSignal,
  ): Promise<PythonOutcome>
  /** Limits how many programs each user runs at once. */
  slots: Slots
}

/** `/api/conversations/:id/python`. */
export function registerPythonRoutes(
  app: App,
  { conversations, run, slots }: PythonRouteDependencies,
): void {
  app.post(
    '/api/conversations/:id/python',
    {
      schema: {
        summary: 'Run a Python program without the model',
        description:
          'Runs it as the tool `execute_python` would, at the default strictness of the server, with the files of the conversation’s project that `files` names. Nothing is stored. Closing the connection stops the program.',
        tags: ['conversations'],
        params: z.object({ id: ConversationId }),
        body: RunPythonBody,
        response: { 200: envelope(PythonOutcome) },
      },
    },
    async ({ user, params, body }, reply) => {
      const conversation = await conversations.find(user.id, params.id)
      if (conversation === undefined) throw appError('conversation_not_found')
      const release = await slots.take(user.id)
      if (release === null)
        throw appError(
          'programs_exhausted',
          { limit: slots.limit },
          { retryable: true, retryAfter: RETRY_SECONDS },
        )
      const left = new AbortController()
      const leave = (): void => left.abort()
      reply.raw.once('close', leave)
      // Who has left already is not told again.
      if (reply.raw.destroyed) leave()
      try {
        const { projectId } = conversation
        return success(await run(body, { userId: user.id, projectId }, left.signal))
      } finally {
        reply.raw.off('close', leave)
        release()
      }
    },
  )
}
