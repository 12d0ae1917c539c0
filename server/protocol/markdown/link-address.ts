// Which links of a text must show where they lead: those whose address can carry data that a reader does not see.

const MAX_SHOWN_CHARACTERS = 80
const LONG_PART_CHARACTERS = 32
/** Data may be split into short parts. */
const LONG_PLACE_CHARACTERS = 64

/**
 * The address to show behind a link, shortened; null if it carries nothing, or the link's own text shows it. Text from
 * outside may have told the model to put data of the conversation into it.
 */
export function addressToShow(href: string, text: string): string | null {
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  if (!/^https?:$/.test(url.protocol) || !carriesData(url)) return null
  const shown = href.replace(/^https?:\/\//i, '')
  if ([shown, readable(shown)].some((form) => text.includes(form))) return null
  return shown.length > MAX_SHOWN_CHARACTERS ? `${shown.slice(0, MAX_SHOWN_CHARACTERS)}…` : shown
}

/** As browsers show it: letters instead of their percent-encoding. */
function readable(address: string): string {
  try {
    return decodeURI(address)
  } catch {
    return address
  }
}

const carriesData = ({ search, username, password, hostname, pathname, hash }: URL): boolean =>
  search !== '' ||
  username !== '' ||
  password !== '' ||
  hash.length > LONG_PART_CHARACTERS ||
  hostname.length + pathname.length > LONG_PLACE_CHARACTERS ||
  [...hostname.split('.'), ...pathname.split('/')].some(
    (part) => part.length > LONG_PART_CHARACTERS || /(?:%[\da-f]{2}){4}/i.test(part),
  )
