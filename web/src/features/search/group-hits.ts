// Groups search hits by conversation or document, and computes their links.
import type { SearchHit } from '../../../../server/protocol/conversations/search.ts'
import { paths } from '../../lib/paths.ts'
import { hitTexts } from './snippet.ts'

/** The hits in one conversation or document. `index` is a hit's position for the arrow keys. */
export type Group = { id: string; title: string; hits: { hit: SearchHit; index: number }[] }

/** Each conversation and document once, at the position of its best hit. */
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

/** The link to the message, title, passage or attachment, with the words highlighted. */
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
