// The sources of an answer: search hits, fetched pages, and passages of documents.
import type { WebItem } from './web-results.ts'

/** A passage of a document in the project's knowledge base. */
export type PassageSource = {
  kind: 'passage'
  document: string
  documentId: string
  position: number
  heading?: string
  page?: number
}

/** A search hit or a fetched page. */
export type WebSource = { kind: 'web'; url: string } & Pick<WebItem, 'title' | 'site' | 'text'>

/** `number` counts from 1 in the order in which the tools found the sources; `[1]` in the text refers to it. */
export type Source = { number: number } & (PassageSource | WebSource)

/** A key that is equal for URLs of the same page. */
export const addressKey = (url: string): string => {
  const { host, pathname, search } = new URL(url)
  return `${host.replace(/^www\./, '')}${pathname.replace(/\/$/, '')}${search}`
}

/** The source with this URL, ignoring its fragment and "www."; undefined if there is none. */
export function sourceAt(sources: readonly Source[], url: string): Source | undefined {
  if (!URL.canParse(url)) return undefined
  const key = addressKey(url)
  return sources.find((source) => source.kind === 'web' && addressKey(source.url) === key)
}
