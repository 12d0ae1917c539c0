// The route by which a person runs a Python program of a conversation.

import { z } from 'zod'
import { projectOf } from '../../chat/owned.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { ConversationId } from '../../protocol/ids.ts'
import { PythonOutcome, RunPythonBody } from '../../protocol/programs/python.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const RETRY_SECONDS = 5
/** Programs that a user runs at once; their further ones would only wait in the queue. */
const PROGRAMS_PER_USER = 4

/** `/api/conversations/:id/python`. */
export function registerPythonRoutes(
  app: App,
  { store: { conversations }, runPython, limits }: Pick<Services, 'store' | 'runPython' | 'limits'>,
): void {
  const slots = limits.slots('python_programs', PROGRAMS_PER_USER)
  app.post(
    '/api/conversations/:id/python',
    {
      schema: {
        summary: 'Run a Python program without the model',
        description:
          'Runs it as the tool `execute_python` would, at the default strictness of the server, with the files of the conversation or its project that `files` names. Nothing is stored. Closing the connection stops the program.',
        tags: ['conversations'],
        params: z.object({ id: ConversationId }),
        body: RunPythonBody,
        response: { 200: envelope(PythonOutcome) },
      },
    },
    async ({ user, params, body }, reply) => {
      const conversation = await conversations.find(user.id, params.id)
      if (conversation === undefined) throw appError('conversation_not_found')
      const release = await slots.acquire(user.id)
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
        const place = { userId: user.id, projectId: projectOf(conversation) }
        return success(await runPython(body, place, left.signal))
      } finally {
        reply.raw.off('close', leave)
        release()
      }
    },
  )
}
