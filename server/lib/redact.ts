// Redacts all secrets known to this process from texts that leave it: log lines, events, errors, tool results.
import { pino } from 'pino'

/** Removes the secrets of the server from texts. */
export interface Redactor {
  /** Adds secrets to redact. Ignores short texts and common placeholders. */
  add(secrets: Iterable<string | null | undefined>): void
  redact(text: string): string
}

const MIN_SECRET_CHARACTERS = 6
/** Beyond this number, the oldest secret is evicted. */
const MAX_SECRETS = 2_000
/** What stands for a secret in texts for people. */
export const HIDDEN = '[secret]'
/** Placeholder values of examples and local servers; redacting them would only garble the log. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'changeme',
  'default',
  'demo-key',
  'dummy-key',
  'lm-studio',
  'nanoclaw',
  'no-key',
  'not-needed',
  'ollama',
  'password',
  'postgres',
  'secret',
  'sk-no-key-required',
])
/** Keys of well-known providers and HTTP tokens, even if they were never added. */
const KEY_PATTERN = /\b(?:(?:sk|pk|gsk|nc|or)-[\w-]{16,}|(?<=Bearer )[\w.~+/-]{12,}=*)/g

/** Create one per process, before anything is logged. */
export function createRedactor(): Redactor {
  const known = new Set<string>()
  let pattern: RegExp | null = null

  /** The encodings in which a secret may appear: plain, in JSON (once and twice), in a URL, in Base64. */
  const formsOf = (secret: string): string[] => {
    const json = JSON.stringify(secret).slice(1, -1)
    const nested = JSON.stringify(json).slice(1, -1)
    const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '')
    return [secret, json, nested, encodeURIComponent(secret), base64]
  }
  const compile = (): RegExp => {
    const forms = [...new Set([...known].flatMap(formsOf))]
      // Longer secrets first, so that a secret that starts with another one is redacted as a whole.
      .sort((a, b) => b.length - a.length)
      .map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    return new RegExp(forms.join('|'), 'g')
  }

  return {
    add(secrets) {
      for (const secret of secrets) {
        const text = secret?.trim() ?? ''
        if (
          text.length < MIN_SECRET_CHARACTERS ||
          PLACEHOLDERS.has(text.toLowerCase()) ||
          known.has(text)
        )
          continue
        known.add(text)
        if (known.size > MAX_SECRETS)
          for (const oldest of known) {
            known.delete(oldest)
            break
          }
        pattern = null
      }
    },
    redact(text) {
      if (known.size > 0) pattern ??= compile()
      const redacted = pattern === null ? text : text.replace(pattern, HIDDEN)
      return redacted.replace(KEY_PATTERN, HIDDEN)
    },
  }
}

/** Wraps a logger so that every line, including those of child loggers, is redacted before it is written. */
export function redactedLog<Log extends object>(log: Log, redactor: Redactor): Log {
  const { streamSym } = pino.symbols
  const stream: unknown = Reflect.get(log, streamSym)
  if (typeof stream !== 'object' || stream === null || !('write' in stream)) return log
  const target = stream
  const { write } = target
  if (typeof write !== 'function') return log
  const redacting: unknown = Object.create(target, {
    write: { value: (line: string): unknown => write.call(target, redactor.redact(line)) },
  })
  // Child loggers inherit from this logger and so write to the same stream.
  const wrapped: Log = Object.create(log)
  Reflect.set(wrapped, streamSym, redacting)
  return wrapped
}

const SECRET_KEY =
  /secret|password|passwd|token|credential|api_?key|_key$|^key$|authorization|cookie/i
const SECRET_URL = /^(?:database|redis)_url$/
/** The settings whose values are secret, whatever their names: headers of HTTP requests. */
const ALL_SECRET = 'headers'
/** Headers whose values are no secrets; redacting them would garble tool results and the log. */
const OPEN_HEADER =
  /^(?:accept(?:-.*)?|content-type|user-agent|referer|http-referer|origin|x-title|.*-(?:version|beta))$/i

/** All values of a settings object, at any depth, whose name marks them as secret, and passwords in URLs. */
export function secretsIn(settings: unknown, name = ''): string[] {
  if (typeof settings === 'string') {
    const inUrl = passwordsOf(settings)
    return name === ALL_SECRET || SECRET_URL.test(name) || SECRET_KEY.test(name)
      ? [settings, settings.replace(/^(?:Bearer|Basic|Token)\s+/i, ''), ...inUrl]
      : inUrl
  }
  if (typeof settings !== 'object' || settings === null) return []
  return Object.entries(settings).flatMap(([key, value]) => {
    const isOfHeader = name === ALL_SECRET && !OPEN_HEADER.test(key)
    return secretsIn(value, Array.isArray(settings) || isOfHeader ? name : key)
  })
}

/** Variables that programs get; their names need not say that they are secret. */
const ALL_HIDDEN = 'env'

/** A copy of settings in which the secrets of `secretsIn`, however short, and all variables of programs are hidden. */
export function withoutSecrets<Settings extends object>(settings: Settings): Settings
export function withoutSecrets(settings: unknown, name?: string): unknown
export function withoutSecrets(settings: unknown, name = ''): unknown {
  if (typeof settings === 'string') {
    if (name === ALL_HIDDEN) return HIDDEN
    const [whole, ...others] = secretsIn(settings, name)
    if (whole === settings && !SECRET_URL.test(name)) return HIDDEN
    // Of an address, only the password.
    const password = [whole, ...others].find((secret) => secret !== settings)
    return password === undefined ? settings : settings.replace(`:${password}@`, `:${HIDDEN}@`)
  }
  if (Array.isArray(settings)) return settings.map((item) => withoutSecrets(item, name))
  if (typeof settings !== 'object' || settings === null) return settings
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => {
      const isAll = name === ALL_HIDDEN || (name === ALL_SECRET && !OPEN_HEADER.test(key))
      return [key, withoutSecrets(value, isAll ? name : key)]
    }),
  )
}

function passwordsOf(text: string): string[] {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(text) || !URL.canParse(text)) return []
  const { password } = new URL(text)
  if (password === '') return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

/** The secrets in a sealed text: the text itself, or the secret settings in its JSON. A model's key may have headers. */
export function storedSecrets(text: string): string[] {
  const json = text.replace(/^key and headers: /, '')
  if (!json.startsWith('{')) return [text]
  try {
    return secretsIn(JSON.parse(json))
  } catch {
    return [text]
  }
}
