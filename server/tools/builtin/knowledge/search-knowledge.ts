// The `search_knowledge` tool: finds passages in the project's documents, with document, heading and page.
import { z } from 'zod'
import type { Knowledge } from '../../../knowledge/knowledge.ts'
import { deadline } from '../../../lib/abort.ts'
import { requireProject } from '../../../workspace/open-project.ts'
import { defineTool, fail, markUntrusted, succeed, type ToolDefinition } from '../../definition.ts'
import { projectOf } from '../files/project-access.ts'

const MAX_RESULTS = 20
/** How long a search waits for files that were attached a moment ago. */
const READING_WAIT_MS = 20_000

/** The tool `search_knowledge`. */
export const createSearchKnowledgeTool = (
  knowledge: Pick<Knowledge, 'search' | 'list' | 'whenFound'>,
  projects: Parameters<typeof requireProject>[0],
): ToolDefinition =>
  defineTool({
    name: 'search_knowledge',
    description:
      "Searches the documents of the user's project (PDF, DOCX, Markdown, HTML, CSV, text) and returns the best passages. Phrase the query in words the documents are likely to use. Cite passages you use as [document, heading, page].",
    category: 'knowledge',
    riskLevel: 'low',
    namesAddresses: true,
    cacheable: true,
    timeoutMs: 30_000,
    input: z.object({
      query: z.string().trim().min(1).max(2_000).describe('Keywords or a question.'),
      max_results: z.int().min(1).max(MAX_RESULTS).default(5).describe('Passages to return.'),
    }),
    async handler({ query, max_results: limit }, context) {
      const { signal } = context
      const projectId = await projectOf(context)
      if (projectId === null) return fail('This conversation has no documents to search.')
      // The user may have stopped being a member since the run began.
      await requireProject(projects, context.userId, projectId, 'read')
      const unread = await knowledge.whenFound(projectId, deadline(READING_WAIT_MS, signal))
      const stillReading = unread.length === 0 ? {} : { still_reading: unread }
      const hits = await knowledge.search({ userId: context.userId, projectId }, query, limit)
      if (hits.length > 0)
        return markUntrusted(
          succeed(
            {
              results: hits.map(({ documentId, position: _place, ...hit }) => ({
                document: hit.document,
                document_id: documentId,
                heading: hit.heading,
                page: hit.page,
                text: hit.text,
                score: hit.score,
              })),
              ...stillReading,
            },
            {
              display: `${hits.length} ${hits.length === 1 ? 'passage' : 'passages'} for “${query.slice(0, 80)}”`,
              citations: hits.map((hit) => ({
                document: hit.document,
                document_id: hit.documentId,
                heading: hit.heading,
                page: hit.page,
                position: hit.position,
              })),
            },
          ),
          true,
        )
      const { items } = await knowledge.list(projectId, { limit: 1 })
      return succeed(
        { results: [], ...stillReading },
        { display: items.length === 0 ? 'The project has no documents' : 'Nothing found' },
      )
    },
  })
