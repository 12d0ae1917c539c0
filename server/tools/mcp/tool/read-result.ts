// What a remote tool returned, for the model and the person: texts first, then what only the structure holds, and pictures.
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../../lib/records.ts'
import type { McpAppReference } from '../../../protocol/mcp-app.ts'
import type { Artifact } from '../../../protocol/runs/step.ts'
import { fail, succeed, type ToolResult } from '../../definition.ts'
import {
  imageOfResult,
  MAX_RESULT_IMAGE_BYTES,
  type PrepareImage,
  type ResultImageFile,
} from '../../result-image.ts'
import type { RemoteResult } from '../sdk.ts'

/** Maximum characters of a result's text that are stored. The executor shortens further what the model receives. */
const MAX_TEXT = 1_000_000
const MAX_IMAGES = 4
/** Characters of base64. The transport limits a whole result to 10 MB. */
const MAX_ENCODED_IMAGE = 14_000_000
/** Shorter texts are not looked at: no picture is that small. */
const MIN_ENCODED = 1_000

/** What precedes base64 in a data URL. */
const DATA_URL = /data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*;base64,$/
const MAX_DATA_URL = 200

/** How pictures begin in base64: PNG, JPEG, GIF, WebP. */
const PICTURE = /^(iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/

type Prepare = (bytes: Uint8Array) => ReturnType<PrepareImage>

/** Characters of JSON of a result that its app gets as the server sent it. Of a longer one, it gets what the model reads. */
const MAX_APP_RESULT = 100_000

/**
 * Converts the result of a call. Pictures go to the person and to models that see, and never into the text.
 * @param app the app that shows it, or `caller` for the one that made the call; null if there is none.
 */
export async function readResult(
  result: RemoteResult,
  prepare: Prepare,
  app: McpAppReference | 'caller' | null = null,
): Promise<ToolResult> {
  const pictures = createPictures(prepare)
  const parts: string[] = []
  for (const part of result.content) parts.push(await textOf(part, pictures))
  const whole = await withoutEncoded(parts.filter((part) => part !== '').join('\n'), pictures)
  const text = cut(whole)
  const structured = await structureOf(result, pictures)
  const { files, images } = pictures
  const artifact: Artifact = {
    display: text.slice(0, 200),
    untrusted: true,
    ...(files.length > 0 ? { files } : {}),
    ...(app === null ? {} : { ...(app === 'caller' ? {} : { app }), ...forApp(result) }),
  }
  const seen = images.length === 0 ? {} : { images }
  const data = combined(text, structured)
  if (result.isError === true) {
    const error = typeof data === 'string' ? data : JSON.stringify(data)
    return fail(error || 'The tool reported a failure.', { artifact, ...seen })
  }
  return { ...succeed(data, artifact), ...seen }
}

/** The result as the server sent it, for the app; nothing if it is too long. */
function forApp({ content, structuredContent, isError, _meta }: RemoteResult) {
  const sent = { content, structuredContent, isError, _meta }
  const text = JSON.stringify(sent)
  const appResult: unknown = text.length > MAX_APP_RESULT ? undefined : JSON.parse(text)
  return appResult === undefined ? {} : { app_result: appResult }
}

type Part = RemoteResult['content'][number]
type Pictures = ReturnType<typeof createPictures>

/** What a part of a result says in words. Anything that is not shown says so. */
async function textOf(part: Part, pictures: Pictures): Promise<string> {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
      return await pictures.add(part.data, part.mimeType)
    case 'audio':
      return `[audio, ${part.mimeType}, ${sizeOf(part.data)}: cannot be played here, neither by you nor by the user]`
    case 'resource': {
      const { resource } = part
      if ('text' in resource) return resource.text
      const mime = resource.mimeType ?? 'unknown type'
      if (/^image\//.test(mime) || PICTURE.test(resource.blob))
        return await pictures.add(resource.blob, mime, resource.uri)
      return `[file ${resource.uri}, ${mime}, ${sizeOf(resource.blob)}: its content is not shown]`
    }
    case 'resource_link': {
      const more = [part.mimeType, part.description].filter((one) => one !== undefined)
      return `${part.name}: ${part.uri}${more.length === 0 ? '' : ` (${more.join(', ')})`}`
    }
  }
}

/** Collects the pictures of a result, each once. */
function createPictures(prepare: Prepare) {
  const files: ResultImageFile[] = []
  const images: NonNullable<ToolResult['images']>[number][] = []
  const known = new Map<string, string>()
  const prepareOne = async (data: string, mime: string): Promise<string> => {
    const told = `image, ${mime}, ${sizeOf(data)}`
    if (images.length >= MAX_IMAGES) return `[${told}: not shown, because there are too many]`
    if (data.length > MAX_ENCODED_IMAGE) return `[${told}: not shown, because it is too large]`
    const found = await prepare(Buffer.from(data, 'base64'))
    if (found === null) return `[${told}: not shown, because it cannot be read]`
    if (found.bytes.byteLength > MAX_RESULT_IMAGE_BYTES)
      return `[${told}: not shown, because it is too large]`
    const { image, file } = imageOfResult(`image-${images.length + 1}`, found)
    images.push(image)
    files.push(file)
    return `[image ${images.length}: ${found.mime}, ${found.width}x${found.height}]`
  }
  return {
    files,
    images,
    /** @returns what stands for the picture in the text. */
    async add(data: string, mime: string, name = ''): Promise<string> {
      const before = known.get(data)
      if (before !== undefined) return before
      const text = await prepareOne(data, name === '' ? mime : `${name}, ${mime}`)
      known.set(data, text)
      return text
    },
  }
}

/** The text without base64: pictures are added to the others, everything else becomes its size. */
async function withoutEncoded(text: string, pictures: Pictures): Promise<string> {
  let rest = ''
  let from = 0
  for (const { start, end, mime, data } of encodedIn(text)) {
    rest += text.slice(from, start)
    rest += PICTURE.test(data)
      ? await pictures.add(data, mime || 'image')
      : `[${mime === '' ? 'base64 data' : mime}, ${sizeOf(data)}: not shown]`
    from = end
  }
  return rest + text.slice(from)
}

interface Encoded {
  start: number
  end: number
  /** From the data URL; empty if it is not in one. */
  mime: string
  data: string
}

/**
 * Base64 without line breaks, in a data URL or on its own. A loop, because a regular expression needs memory for each of the
 * millions of characters of a picture.
 */
function* encodedIn(text: string): Generator<Encoded> {
  let at = 0
  while (at < text.length) {
    const begin = at
    while (isDigit(text.charCodeAt(at))) at += 1
    if (at === begin) at += 1
    if (at - begin < MIN_ENCODED) continue
    const before = text.slice(Math.max(0, begin - MAX_DATA_URL), begin)
    const url = DATA_URL.exec(before)?.[0] ?? ''
    if (url === '' && !isEncoded(text.slice(begin, begin + 400))) continue
    for (let padding = 0; padding < 2 && text[at] === '='; padding += 1) at += 1
    const [, mime = ''] = /^data:([^;,]+)/.exec(url) ?? []
    yield { start: begin - url.length, end: at, mime, data: text.slice(begin, at) }
  }
}

/** Whether it is a digit of base64, in the alphabet of the standard or of URLs. False beyond the end of a text. */
const isDigit = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2b ||
  code === 0x2f ||
  code === 0x2d ||
  code === 0x5f

/** Long words of one kind of characters are not base64: sequences of genes, lines of dashes, numbers. */
const isEncoded = (beginning: string): boolean =>
  /[a-z]/.test(beginning) && /[A-Z]/.test(beginning) && /[0-9+/]/.test(beginning)

const MAX_DEPTH = 50

/** The structured content without base64; undefined if there is none. */
async function structureOf(
  { structuredContent }: RemoteResult,
  pictures: Pictures,
): Promise<unknown> {
  if (structuredContent === undefined || structuredContent === null) return undefined
  const read = async (value: unknown, depth: number): Promise<unknown> => {
    if (typeof value === 'string') return await withoutEncoded(value, pictures)
    if (depth > MAX_DEPTH) return '[nested too deeply]'
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) items.push(await read(item, depth + 1))
      return items
    }
    if (!isRecord(value)) return value
    const fields: Record<string, unknown> = {}
    for (const [key, field] of Object.entries(value)) fields[key] = await read(field, depth + 1)
    return fields
  }
  return await read(structuredContent, 0)
}

/** The text, and the structure unless one of them holds the other. A text that is just the structure as JSON is the structure. */
function combined(text: string, structured: unknown): unknown {
  if (structured === undefined) return text
  const json = JSON.stringify(structured)
  if (json.length > MAX_TEXT) return text === '' ? cut(json) : text
  if (text === '' || isDeepStrictEqual(parsed(text), structured)) return structured
  if (holdsText(structured, text.trim())) return structured
  return isHeldBy(text, structured) ? text : `${text}\n\nStructured content: ${json}`
}

function parsed(text: string): unknown {
  if (!/^\s*[[{"\d-]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // It is a text for readers.
    return undefined
  }
}

/** Whether a value of the structure is the whole text. */
function holdsText(value: unknown, text: string): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((one) => holdsText(one, text))
  return value !== null && value !== undefined && String(value).trim() === text
}

/** Characters that are searched for the values of a structure; a longer search would hold up everything else. */
const MAX_SEARCHED = 5_000_000

/** Whether each value of the structure is in the text, word for word; false if finding out would take long. */
function isHeldBy(text: string, structured: unknown): boolean {
  let left = MAX_SEARCHED
  const isHeld = (value: unknown): boolean => {
    if (value === null || value === '') return true
    if (typeof value === 'object') return Object.values(value).every(isHeld)
    left -= text.length
    return left >= 0 && hasWord(text, String(value))
  }
  return isHeld(structured)
}

/** Places at which a value is looked for: one that is so frequent as a part of others is not worth more. */
const MAX_PLACES = 1_000

/** Whether a text has a value that is no part of another word or number, as 3 is a part of 13. */
function hasWord(text: string, word: string): boolean {
  let at = text.indexOf(word)
  for (let place = 0; at !== -1 && place < MAX_PLACES; place += 1) {
    const end = at + word.length
    const before = text.slice(Math.max(0, at - 2), at) + word.charAt(0)
    const after = text.slice(end - 1, end + 2)
    const isPart = /[A-Za-z\d]{2}$|\d\.\d$/.test(before) || /^(?:[A-Za-z\d]{2}|\d\.\d)/.test(after)
    if (!isPart) return true
    at = text.indexOf(word, at + 1)
  }
  return false
}

const cut = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n[cut: too long]` : text

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4)
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`
}
