// Scalar values of the configuration (sizes, URLs, origins) and their error messages.
import { z } from 'zod'

const UNITS: Record<string, number> = { '': 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
const SIZE = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)?$/i

/** Parses a size such as `10MB` (1 MB is 1,048,576 bytes) or a plain number into bytes; undefined when it is invalid. */
export function parseSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 ? value : undefined
  const found = typeof value === 'string' ? SIZE.exec(value.trim()) : null
  if (found === null) return undefined
  const bytes = Math.round(Number(found[1]) * (UNITS[(found[2] ?? '').toUpperCase()] ?? 1))
  return bytes > 0 ? bytes : undefined
}

/** A size in bytes, written as a number or as `500KB`, `10MB`, `1GB`. */
export const Size = z.unknown().transform((value, context): number => {
  const bytes = parseSize(value)
  if (bytes !== undefined) return bytes
  context.issues.push({
    code: 'custom',
    message: 'a size such as 500KB, 10MB or 1GB',
    input: value,
  })
  return z.NEVER
})

const SECONDS: Record<string, number> = { m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** A time in seconds, written as `30m`, `12h`, `1d` or `2w`. */
export const Duration = z
  .string({ error: 'a time such as 30m, 12h, 1d or 2w' })
  .transform((value, context): number => {
    const [, number = '', unit = ''] = /^(\d{1,4}) ?([mhdw])$/.exec(value.trim()) ?? []
    const seconds = Number(number) * (SECONDS[unit] ?? 0)
    if (seconds > 0) return seconds
    context.issues.push({
      code: 'custom',
      message: 'a time such as 30m, 12h, 1d or 2w',
      input: value,
    })
    return z.NEVER
  })

/** A positive number of characters, optionally followed by the word `characters`. */
export const Characters = z.preprocess(
  (value) =>
    typeof value === 'string' ? Number(value.replace(/[\s_,]|characters$/g, '') || NaN) : value,
  z.int().min(1),
)

/** An `http://` or `https://` URL. */
export const HttpUrl = z.url({
  protocol: /^https?$/,
  error: 'a URL starting with http:// or https://',
})

/** A web origin: scheme, host and port, without a path. */
export const Origin = HttpUrl.refine(
  (value) => URL.canParse(value) && new URL(value).pathname === '/',
  {
    error: 'an origin such as https://chat.example.org, without a path',
  },
).transform((value) => new URL(value).origin)

/** Schemes of the pages of desktop apps and browser extensions, whose origins have no port. */
const APP_ORIGIN = /^(?:app|capacitor|tauri|chrome-extension|moz-extension):\/\/[\w.-]+$/

const AN_ORIGIN =
  'an origin such as https://chat.example.org, app://obsidian.md or chrome-extension://<id>, without a path'
/** An origin that may call from a page: of the web, of a desktop app or of a browser extension. */
export const CallingOrigin = z.union([Origin, z.string().regex(APP_ORIGIN, { error: AN_ORIGIN })], {
  error: AN_ORIGIN,
})

/** An address or a CIDR range. */
export const AddressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'an address such as 10.0.0.7 or a range such as 10.0.0.0/8',
})

/** The addresses of this machine itself. */
export const LOOPBACK = ['127.0.0.0/8', '::1/128']

/**
 * Addresses and ranges of proxies; `loopback` stands for those of this machine. An entry can hold several, separated by
 * commas, so that one environment variable can name them all.
 */
export const ProxyAddresses = z
  .array(z.string())
  .transform((entries) =>
    entries.flatMap((entry) =>
      entry
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .flatMap((part) => (part === 'loopback' ? LOOPBACK : [part])),
    ),
  )
  .pipe(z.array(AddressRange))

export const Port = z.int().min(0).max(65_535)
