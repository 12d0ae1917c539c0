// The log of a process: JSON lines for programs that collect logs, readable lines for a person at a terminal.
import { type Logger, pino } from 'pino'
import { z } from 'zod'
import { type Redactor, redactedLog } from './redact.ts'

const STANDARD_ERROR = 2
/** The fields of a line that stand at its beginning or below it. */
const Line = z.looseObject({
  level: z.number(),
  time: z.number(),
  msg: z.string().optional(),
  err: z.looseObject({ stack: z.string().optional(), message: z.string().optional() }).optional(),
})
/** Texts without blanks, quotes and characters that a terminal obeys need no quotes. */
const BARE = /^[\p{L}\p{N}\p{P}\p{S}]+$/u
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const BOLD_RED = '\u001b[1;31m'
const YELLOW = '\u001b[33m'
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'

/**
 * Creates the log of this process on standard error. Lines are written in the background; the end of the process waits for them.
 * @param options.format `auto`: readable lines at a terminal, JSON otherwise.
 */
export function createProcessLog(
  { level, format }: { level: string; format: 'auto' | 'json' | 'text' },
  redactor: Redactor,
): Logger {
  const destination = pino.destination({ dest: STANDARD_ERROR, sync: false })
  const isTerminal = process.stderr.isTTY === true
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const hasColours = isTerminal && (process.env.NO_COLOR ?? '') === ''
  const readable = {
    write: (line: string) => destination.write(readableLine(line, hasColours)),
    flushSync: () => destination.flushSync(),
  }
  const log = pino(
    {
      level,
      base: null,
      redact: [
        'req.headers.authorization',
        'req.headers.cookie',
        'req.headers["x-api-key"]',
        '*.api_key',
        '*.password',
      ],
    },
    isText ? readable : destination,
  )
  return redactedLog(log, redactor)
}

/**
 * A JSON line of pino as a person reads it: local time, level, message, fields, and the stack of an error below. Control
 * characters are escaped, because fields hold what clients sent.
 */
export function readableLine(json: string, hasColours: boolean): string {
  const line = parsed(json)
  if (line === null) return json
  const { level, time, msg = '', err, ...fields } = line
  const name = (pino.levels.labels[level] ?? String(level)).toUpperCase().padEnd(5)
  const colour = level >= 50 ? BOLD_RED : level >= 40 ? YELLOW : ''
  const shownName = hasColours && colour !== '' ? `${colour}${name}${PLAIN}` : name
  const details = Object.entries(fields)
    .map(([key, value]) => `${key}=${shownValue(value)}`)
    .join(' ')
  const shownDetails = hasColours && details !== '' ? `${DIM}${details}${PLAIN}` : details
  const head = [localTime(new Date(time)), shownName, escaped(msg), shownDetails]
  const stack = err?.stack ?? err?.message
  const below = stack === undefined ? '' : stack.split('\n').map((one) => `\n    ${escaped(one)}`)
  return `${head.filter((part) => part !== '').join(' ')}${[...below].join('')}\n`
}

function parsed(json: string): z.infer<typeof Line> | null {
  try {
    return Line.safeParse(JSON.parse(json)).data ?? null
  } catch {
    return null // not a line of pino
  }
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return BARE.test(value) ? value : escaped(JSON.stringify(value))
  return escaped(JSON.stringify(value) ?? 'undefined')
}

const escaped = (text: string): string =>
  text.replace(
    CONTROL_CHARACTERS,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

/** For example `2026-03-01 09:05:07.012`. */
function localTime(moment: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
  const time = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(':')
  return `${day} ${time}.${String(moment.getMilliseconds()).padStart(3, '0')}`
}
