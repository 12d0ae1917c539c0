// Describes a user agent in a few words, so that users recognize their devices. No decision may depend on it.

type Device = {
  kind: 'phone' | 'computer' | 'program'
  /** The browser or program; undefined if the user agent does not name one. */
  program: string | undefined
  system: string | undefined
}

/** In order: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari. */
const BROWSERS = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const SYSTEMS = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** Anything but a known browser counts as a program, named by the first word of its user agent. */
export function deviceOf(userAgent: string): Device {
  const named = (table: readonly (readonly [RegExp, string])[]): string | undefined =>
    table.find(([pattern]) => pattern.test(userAgent))?.[1]
  const browser = userAgent.startsWith('Mozilla/') ? named(BROWSERS) : undefined
  const system = named(SYSTEMS)
  if (browser === undefined)
    return { kind: 'program', program: /^[\w.-]{1,40}/.exec(userAgent)?.[0], system }
  return {
    kind: /\b(Mobile|iPhone|iPad|Android)\b/.test(userAgent) ? 'phone' : 'computer',
    program: browser,
    system,
  }
}
