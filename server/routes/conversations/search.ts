// `GET /api/search`: full-text search over everything that a user has.

import type { App } from '../../http/app.ts'
import {
  type SearchHit,
  SearchPage,
  SearchQueryString,
} from '../../protocol/conversations/search.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { Hit } from '../../search/search.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const DEFAULT_LIMIT = 20

/** `/api/search`. */
export function registerSearchRoutes(app: App, { search }: Pick<Services, 'search'>): void {
  app.get(
    '/api/search',
    {
      schema: {
        summary: 'Search titles, messages, tool calls, attachments and documents',
        description:
          'A hit contains all unquoted words, or most of them if nothing contains all. `"phrases"`, `-excluded`, `in:<project name>`, `tag:<tag>`, `by:me` and `has:file` narrow the search. Titles come first, then everything else by relevance, then by time, newest first. `snippet` is HTML: escaped text with each hit in `<mark>`.',
        querystring: SearchQueryString,
        response: { 200: envelope(SearchPage) },
      },
    },
    async ({ user, query }) => {
      const { items, nextCursor, hasMore } = await search.find(user.id, {
        q: query.q,
        type: query.type,
        projectId: query.project_id,
        conversationId: query.conversation_id,
        from: query.from === undefined ? undefined : new Date(query.from),
        to: query.to === undefined ? undefined : new Date(query.to),
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
      })
      return success({
        items: items.map(presentHit),
        next_cursor: nextCursor,
        has_more: hasMore,
        indexed: await search.indexedShare(),
      })
    },
  )
}

const presentHit = ({ message, document, ...hit }: Hit): SearchHit => ({
  type: hit.type,
  conversation_id: hit.conversationId,
  ...(message === undefined ? {} : { message_id: message.id, role: message.role }),
  ...(message?.stepId === undefined ? {} : { step_id: message.stepId }),
  ...(message?.fileId === undefined ? {} : { file_id: message.fileId }),
  ...(message?.fileName === undefined ? {} : { file_name: message.fileName }),
  ...(document === undefined ? {} : { document_id: document.id, passage: document.position }),
  ...(hit.page === undefined ? {} : { page: hit.page }),
  title: hit.title,
  snippet: hit.snippet,
  project_id: hit.projectId,
  created_at: hit.createdAt.toISOString(),
})
