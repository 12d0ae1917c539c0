// Collects the sources of an answer: search hits, fetched pages, and passages of documents.
import { z } from 'zod/mini'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import { fieldsOf, listIn } from '../../../lib/read-json.ts'
import { readHits, readPages, type WebItem } from '../steps/results/web-results.ts'
import { readOutcome } from '../steps/tool-content.ts'

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

const MAX_SOURCES = 100

const text = z.optional(z.nullable(z.string()))
const Passage = z.object({
  document_id: z.string(),
  document: text,
  heading: text,
  page: z.optional(z.nullable(z.number())),
  position: z.optional(z.nullable(z.number())),
})

function passageOf(citation: unknown): PassageSource | null {
  const read = Passage.safeParse(citation)
  if (!read.success) return null
  const { document_id: documentId, document, heading, page, position } = read.data
  return {
    kind: 'passage',
    document: document ?? '',
    documentId,
    position: position ?? 0,
    ...(heading ? { heading } : {}),
    ...(page == null ? {} : { page }),
  }
}

const webSource = ({ url, title, site, text: extract }: WebItem): WebSource | null =>
  url === undefined
    ? null
    : { kind: 'web', url, title, site, ...(extract === undefined ? {} : { text: extract }) }

/** A key that is equal for URLs of the same page. */
const addressKey = (url: string): string => {
  const { host, pathname, search } = new URL(url)
  return `${host.replace(/^www\./, '')}${pathname.replace(/\/$/, '')}${search}`
}

const keyOf = (source: PassageSource | WebSource): string =>
  source.kind === 'web' ? addressKey(source.url) : `${source.documentId}:${source.position}`

function foundBy(step: Step): (PassageSource | WebSource | null)[] {
  if (step?.type !== 'tool_result' || step.skipped) return []
  const cited = listIn(fieldsOf(step.artifact).citations)
  if (cited.length > 0) return cited.map(passageOf)
  const outcome = readOutcome(step.content)
  if (outcome?.success !== true) return []
  if (step.name === 'web_search') return (readHits(outcome.data) ?? []).map(webSource)
  const pages = readPages(step.name, outcome.data, step.artifact) ?? []
  return pages.filter(({ error }) => error === undefined).map(webSource)
}

/** All sources without duplicates, numbered in the order of discovery. A later step may improve the title of a source. */
export function sourcesOf(steps: readonly Step[]): readonly Source[] {
  const found = new Map<string, Source>()
  for (const step of steps)
    for (const source of foundBy(step)) {
      if (source === null) continue
      const key = keyOf(source)
      const before = found.get(key)
      if (before === undefined) {
        if (found.size < MAX_SOURCES) found.set(key, { number: found.size + 1, ...source })
      } else if (before.kind === 'web' && source.kind === 'web' && before.title === before.url)
        found.set(key, { ...before, title: source.title })
    }
  return [...found.values()]
}

/** The source with this URL, ignoring its fragment and "www."; undefined if there is none. */
export function sourceAt(sources: readonly Source[], url: string): Source | undefined {
  if (!URL.canParse(url)) return undefined
  const key = addressKey(url)
  return sources.find((source) => source.kind === 'web' && addressKey(source.url) === key)
}
