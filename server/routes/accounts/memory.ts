// Routes for the user's memory: the CONTEXT.md text that is part of all their conversations.

import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { MemoryContent, WriteMemoryBody } from '../../protocol/projects/knowledge.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

/** `/api/memory`. */
export function registerMemoryRoutes(app: App, { memory }: Pick<Services, 'memory'>): void {
  const response = { 200: envelope(MemoryContent) }

  app.get(
    '/api/memory',
    { schema: { summary: 'Get your memory', tags: ['memory'], response } },
    async ({ user }) => success({ content: await memory.read(user.id) }),
  )

  app.put(
    '/api/memory',
    {
      schema: {
        summary: 'Replace your memory',
        description:
          'Returns 409 if the text is no longer the `base` of the change: the agent may have added a fact.',
        tags: ['memory'],
        body: WriteMemoryBody,
        response,
      },
    },
    async ({ user, body }) =>
      success({ content: await memory.write(user.id, body.content, body.base) }),
  )
}
