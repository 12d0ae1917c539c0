// Web addresses in texts, in the one form in which they can be compared.

const MAX_ADDRESS_CHARACTERS = 8_000
/** Characters that end a URL in prose, besides spaces and quotes. Full-width ones are usual in Chinese and Japanese. */
const WITH_SCHEME =
  /https?:\/\/[^\s"'<>`{}|\\^\p{Cc}，。；：！？、（）「」『』【】《》〈〉“”‘’…]+/giu
/** A host name that a person writes without a scheme, with a path if there is one. */
const BARE =
  /(?<![\p{L}\d@./:-])(?:[\p{L}\d](?:[\p{L}\d-]{0,61}[\p{L}\d])?\.)+\p{L}{2,24}(?::\d{1,5})?(?:[/?][^\s"'<>`{}|\\^，。；：！？、（）「」『』【】《》〈〉“”‘’…]*)?/giu
const MAX_TRAILING_CHARACTERS = 12

/** The address as WHATWG parsing writes it, without its fragment; null for anything but an http or https URL. */
export function webAddress(text: string): string | null {
  if (text.length > MAX_ADDRESS_CHARACTERS || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
  url.hash = ''
  return url.href
}

/** The address of the same host without path, query, user and port number: it carries nothing. */
const originsOf = (address: string): string[] => {
  const { origin, hostname } = new URL(address)
  return [`${origin}/`, `https://${hostname}/`]
}

/**
 * Every address that the text may mean: prose does not say where a URL ends, so an address is also given without the
 * punctuation after it. `bare`: host names without a scheme count, too, as a person writes them.
 */
export function addressesIn(text: string, { bare = false } = {}): Set<string> {
  const found = new Set<string>()
  const add = (candidate: string): void => {
    const address = webAddress(candidate)
    if (address === null) return
    found.add(address)
    for (const origin of originsOf(address)) found.add(origin)
  }
  // JSON may write a slash as `\/`.
  const plain = text.includes('\\/') ? text.replaceAll('\\/', '/') : text
  for (const [match] of plain.matchAll(WITH_SCHEME)) for (const end of endingsOf(match)) add(end)
  if (!bare) return found
  for (const [match] of plain.matchAll(BARE))
    for (const end of endingsOf(match)) {
      add(`https://${end}`)
      add(`http://${end}`)
    }
  return found
}

/** The text, and what is left without brackets and punctuation at its end. */
function endingsOf(match: string): string[] {
  const text = match.slice(0, MAX_ADDRESS_CHARACTERS)
  const endings = [text]
  // In Markdown, the text of a link may be an address, too.
  const bracket = text.search(/\]\(|[)\]]/)
  if (bracket > 0) endings.push(text.slice(0, bracket))
  let rest = text
  for (let cut = 0; cut < MAX_TRAILING_CHARACTERS && /[.,;:!?)\]*_~]$/.test(rest); cut += 1) {
    rest = rest.slice(0, -1)
    endings.push(rest)
  }
  return endings
}

/** The host as it is compared: without the `www.` that many sites add or remove. */
export const hostOf = (address: string): string => new URL(address).hostname.replace(/^www\./, '')
