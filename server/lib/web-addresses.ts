// Web addresses in texts, in the one form in which they can be compared.

const MAX_ADDRESS_CHARACTERS = 8_000
/** Characters that end a URL in prose, besides spaces and quotes. Full-width ones are usual in Chinese and Japanese. */
const WITH_SCHEME =
  /https?:\/\/[^\s"'<>`{}|\\^\p{Cc}，。；：！？、（）「」『』【】《》〈〉“”‘’…]{1,8000}/giu
/** A host name that a person writes without a scheme, with a path if there is one. */
const BARE =
  /(?<![\p{L}\d@./:-])(?:[\p{L}\d](?:[\p{L}\d-]{0,61}[\p{L}\d])?\.){1,40}\p{L}{2,24}(?::\d{1,5})?(?:[/?][^\s"'<>`{}|\\^，。；：！？、（）「」『』【】《》〈〉“”‘’…]{0,8000})?/giu
/** More than either pattern can match. */
const MAX_MATCH_CHARACTERS = 12_000
/** Characters of a text that are searched at once. */
const PART_CHARACTERS = 65_536
const MAX_TRAILING_CHARACTERS = 12
/** Of these, how many are cut off one by one. */
const MAX_CUTS = 5

/** The address as WHATWG parsing writes it, without its fragment; null for anything but an http or https URL. */
export const webAddress = (text: string): string | null => webUrl(text)?.href ?? null

/** What a person types as an address: without a scheme, https. */
export const typedAddress = (text: string): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[^/]*:\d/.test(text) ? text : `https://${text}`

function webUrl(text: string): URL | null {
  if (text.length > MAX_ADDRESS_CHARACTERS || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
  if (text.includes('#')) url.hash = ''
  return url
}

/** The address, and that of the same host without path, query, user and port number, which carries nothing. */
const withOrigins = ({ href, origin, hostname }: URL): string[] => [
  href,
  `${origin}/`,
  `https://${hostname}/`,
]

/**
 * Every address that the text may mean: prose does not say where a URL ends, so an address is also given without the
 * punctuation after it. `bare`: host names without a scheme count, too, as a person writes them.
 * @returns the addresses in small groups, some empty, so that a long text can be searched in many turns of the event loop.
 */
export function* addressesIn(text: string, { bare = false } = {}): Generator<readonly string[]> {
  // JSON may write a slash as `\/`.
  const plain = text.includes('\\/') ? text.replaceAll('\\/', '/') : text
  for (const match of matchesOf(plain, WITH_SCHEME))
    yield endingsOf(match).flatMap((end) => {
      const url = webUrl(end)
      return url === null ? [] : withOrigins(url)
    })
  if (!bare) return
  for (const match of matchesOf(plain, BARE))
    yield endingsOf(match).flatMap((end) => {
      const url = webUrl(`https://${end}`)
      if (url === null) return []
      const secure = withOrigins(url)
      url.protocol = 'http:'
      return [...secure, ...withOrigins(url)]
    })
}

/** The matches of a pattern, and '' after each part of the text that was searched. */
function* matchesOf(text: string, pattern: RegExp): Generator<string> {
  let next = 0
  for (let start = 0; start < text.length; start += PART_CHARACTERS) {
    const end = start + PART_CHARACTERS
    const from = Math.max(start, next)
    // With the character before it, at which a pattern looks back.
    const base = Math.max(0, from - 1)
    const scanner = new RegExp(pattern)
    scanner.lastIndex = from - base
    const part = from < end ? text.slice(base, end + MAX_MATCH_CHARACTERS) : ''
    for (const { 0: match, index } of part.matchAll(scanner)) {
      if (base + index >= end) break
      next = base + index + match.length
      yield match
    }
    yield ''
  }
}

/** The text, and what is left without brackets and punctuation at its end. */
function endingsOf(match: string): string[] {
  const text = match.slice(0, MAX_ADDRESS_CHARACTERS)
  const endings = new Set([text])
  // In Markdown, the text of a link may be an address, too.
  const bracket = text.search(/\]\(|[)\]]/)
  if (bracket > 0) endings.add(text.slice(0, bracket))
  let rest = text
  for (let cut = 0; cut < MAX_TRAILING_CHARACTERS && /[.,;:!?)\]*_~]$/.test(rest); cut += 1) {
    rest = rest.slice(0, -1)
    if (cut < MAX_CUTS) endings.add(rest)
  }
  endings.add(rest)
  return [...endings]
}

/** The host as it is compared: without the `www.` that many sites add or remove. */
export const hostOf = (address: string): string => new URL(address).hostname.replace(/^www\./, '')
