// Hits of the search grouped by conversation or document, and where each leads.
import type { SearchHit } from '../../../../server/protocol/conversations/search.ts'
import { paths } from '../../lib/paths.ts'
import { hitTexts } from './snippet.ts'

/**
 * The hits in one conversation or document; `index` is the place of each in the order of the arrow
 * keys.
 */
export type Group = { id: string; title: string; hits: { hit: SearchHit; index: number }[] }

/** Each conversation and document once, where its best hit is. */
export function byConversation(hits: readonly SearchHit[]): Group[] {
  const groups = new Map<string, Group>()
  for (const hit of hits) {
    const id = hit.conversation_id ?? hit.document_id ?? ''
    const group = groups.get(id) ?? { id, title: hit.title, hits: [] }
    groups.set(id, group)
    group.hits.push({ hit, index: 0 })
  }
  let index = 0
  for (const group of groups.values())
    for (const one of group.hits) {
      one.index = index
      index += 1
    }
  return [...groups.values()]
}

/** The message, title, passage or attached file itself, with the words highlighted. */
export function pathOf(hit: SearchHit): string {
  const marks = hitTexts(hit.snippet)
  if (hit.conversation_id === null)
    return paths.projectDocument(hit.project_id ?? '', {
      id: hit.document_id ?? '',
      passage: hit.passage ?? 0,
      marks,
    })
  if (hit.message_id !== undefined && hit.file_id !== undefined)
    return paths.fileIn(hit.conversation_id, hit.message_id, {
      file: hit.file_id,
      page: hit.page,
      marks,
    })
  return hit.message_id === undefined
    ? paths.conversation(hit.conversation_id)
    : paths.messageIn(hit.conversation_id, hit.message_id, marks)
}
