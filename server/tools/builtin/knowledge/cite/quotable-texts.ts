// The texts that a stored tool result contains, as sources of quotes.
import { fieldsOf, listIn, numberIn, parseJson, textIn } from '../../../../protocol/read-json.ts'
import { canonicalToolName } from '../../../../protocol/tool-names/tool-aliases.ts'

import { type ComparableText, comparable, type Turn } from './find-quote.ts'

/** A text that an answer may quote. */
export interface QuotableText {
  title: string
  url?: string
  documentId?: string
  page?: number
  text: string
}

const LEAVES = 10_000

/** The texts within a value, in order, at most `limit` of them. */
function leavesOf(value: unknown, limit = LEAVES): string[] {
  const found: string[] = []
  const open: unknown[] = [value]
  while (open.length > 0 && found.length < limit) {
    const one = open.pop()
    if (typeof one === 'string') found.push(one)
    else {
      const inner = Array.isArray(one) ? one : Object.values(fieldsOf(one))
      // Not spread: a call takes a limited number of arguments.
      for (let at = inner.length - 1; at >= 0; at -= 1) open.push(inner[at])
    }
  }
  return found
}

const page = (fields: Readonly<Record<string, unknown>>): QuotableText => {
  const url = textIn(fields.url)
  return {
    title: textIn(fields.title) || (url ?? ''),
    ...(url === undefined ? {} : { url }),
    text: textIn(fields.text) ?? textIn(fields.snippet) ?? '',
  }
}

/**
 * The texts in the data of a result.
 * @param data parsed; of a result that was too long for the model, the whole of it.
 * @param title what the page shows of the result.
 */
export function quotableTexts(called: string, data: unknown, title: string): QuotableText[] {
  const fields = fieldsOf(data)
  switch (canonicalToolName(called)) {
    case 'web_search':
      return listIn(fields.results).map((hit) => page(fieldsOf(hit)))
    case 'crawl_batch':
      return listIn(fields.results).map((one) => page(fieldsOf(one)))
    case 'fetch_page':
      return [page({ url: undefined, ...fields, title: textIn(fields.title) ?? title })]
    case 'search_knowledge':
      return listIn(fields.results).map((one) => {
        const passage = fieldsOf(one)
        const documentId = textIn(passage.document_id)
        const number = numberIn(passage.page)
        return {
          title: textIn(passage.document) ?? title,
          ...(documentId === undefined ? {} : { documentId }),
          ...(number === undefined ? {} : { page: number }),
          text: textIn(passage.text) ?? '',
        }
      })
    case 'file_read':
      return [{ title: textIn(fields.path) ?? title, text: textIn(fields.content) ?? '' }]
    case 'result_read':
      return [{ title, text: textIn(fields.content) ?? '' }]
    default:
      return [{ title, text: typeof data === 'string' ? data : leavesOf(data).join('\n') }]
  }
}

/** Arguments of at least this length are not looked for in results that repeat them. */
const LONG_ARGUMENT = 20
/** The same for tools from outside, whose results may contain whatever they are given. Words of a search are in its hits. */
const LONG_ARGUMENT_OUTSIDE = 8
/** A call with more texts in its arguments is no source: what it repeats could not be told in a short time. */
const MAX_ARGUMENTS = 100

/**
 * The text without what it only repeats of the call's arguments: what the model wrote itself is no source. Positions stay.
 * @param call.arguments JSON text.
 * @param quote in its comparable form.
 */
export async function withoutArguments(
  own: ComparableText,
  call: { name: string; arguments: string },
  quote: string,
  turn: Turn,
): Promise<ComparableText> {
  const given = leavesOf(parseJson(call.arguments), MAX_ARGUMENTS + 1)
  if (given.length > MAX_ARGUMENTS) return { ...own, text: '\u0000'.repeat(own.text.length) }
  const long = call.name.startsWith('mcp__') ? LONG_ARGUMENT_OUTSIDE : LONG_ARGUMENT
  let { text } = own
  for (const one of given) {
    const argument = (await comparable(one, turn)).text.trim()
    if (argument === '' || (argument.length < long && !argument.includes(quote))) continue
    await turn()
    text = text.replaceAll(argument, '\u0000'.repeat(argument.length))
  }
  return { ...own, text }
}
