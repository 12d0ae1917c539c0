// Collects the sources of an answer from its tool results.
import { z } from 'zod/mini'
import { fieldsOf, listIn, parseJson } from '../read-json.ts'
import type { Step } from '../runs/step.ts'
import { addressKey, type PassageSource, type Source, type WebSource } from './source.ts'
import { readHits, readPages, type WebItem } from './web-results.ts'

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

const keyOf = (source: PassageSource | WebSource): string =>
  source.kind === 'web' ? addressKey(source.url) : `${source.documentId}:${source.position}`

function foundBy(step: Step): (PassageSource | WebSource | null)[] {
  if (step?.type !== 'tool_result' || step.skipped) return []
  const cited = listIn(fieldsOf(step.artifact).citations)
  if (cited.length > 0) return cited.map(passageOf)
  const { success, data } = fieldsOf(parseJson(step.content))
  if (success !== true) return []
  if (step.name === 'web_search') return (readHits(data) ?? []).map(webSource)
  const pages = readPages(step.name, data, step.artifact) ?? []
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
