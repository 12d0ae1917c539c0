// Converts a request to the filters of the store. Names of projects and tags become the user's own.
import { foldCase } from '../db/fragments.ts'
import type { MessageFilter } from '../db/repositories/search/statements.ts'
import type { CharacterMatch, SearchKind } from '../db/search-entries.ts'
import type { Store } from '../db/store.ts'
import type { SearchType } from '../protocol/conversations/search.ts'
import type { ConversationId, ProjectId, UserId } from '../protocol/ids.ts'
import type { SearchQuery } from './query.ts'

/** Where and when to search. Absent fields do not filter. */
export type SearchScope = {
  type?: SearchType | undefined
  projectId?: ProjectId | undefined
  conversationId?: ConversationId | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** What to search, and for what. `needed`: number of words that a text must contain. */
export type Search = {
  filter: Omit<MessageFilter, 'needed'>
  titles: boolean
  documents: boolean
}

const KINDS: Record<Exclude<SearchType, 'title' | 'document'>, readonly SearchKind[]> = {
  message: ['text', 'step'],
  tool: ['tool'],
  file: ['file'],
}

/** Null if nothing can be found: no words and no filter, or a project or tag that the user does not have. */
export async function toSearch(
  { projects, conversations }: Pick<Store, 'projects' | 'conversations'>,
  userId: UserId,
  query: SearchQuery,
  characters: CharacterMatch,
  { type, projectId, conversationId, from, to }: SearchScope,
): Promise<Search | null> {
  const { words, without, isMine, hasFile } = query
  const hasTerms = words.length + without.length + query.withoutPhrases.length > 0
  const isOfMessages = isMine || hasFile
  if (!hasTerms && !isOfMessages && query.projects.length + query.tags.length === 0) return null
  let projectIds = projectId === undefined ? undefined : [projectId]
  if (query.projects.length > 0) {
    const names = query.projects.map(foldCase)
    projectIds = (await projects.names(userId))
      .filter(({ id, name }) => names.includes(foldCase(name)) && (projectId ?? id) === id)
      .map(({ id }) => id)
    if (projectIds.length === 0) return null
  }
  const owned = query.tags.length === 0 ? [] : await conversations.tags(userId)
  const tags = query.tags.map((wanted) =>
    owned.map(({ tag }) => tag).filter((tag) => foldCase(tag) === foldCase(wanted)),
  )
  if (tags.some((group) => group.length === 0)) return null
  const kinds = type === undefined ? Object.values(KINDS).flat() : []
  return {
    filter: {
      characters,
      words,
      without,
      isMine,
      hasFile,
      conversationId,
      projectIds,
      tags,
      from,
      to,
      kinds: type === undefined || type === 'title' || type === 'document' ? kinds : KINDS[type],
    },
    titles: (type ?? 'title') === 'title' && !isOfMessages && hasTerms,
    // A document belongs to a project, not to a conversation.
    documents:
      (type ?? 'document') === 'document' &&
      !isOfMessages &&
      words.length > 0 &&
      tags.length === 0 &&
      conversationId === undefined,
  }
}
