// The keys that seal stored secrets: the operator's, or from a file in the data folder. The newest seals; all of them open.

import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { isMissing } from '../lib/system-faults.ts'
import { writeFileAtomically } from './atomic-file.ts'

/** The operator's keys; undefined if they are in a file in the data folder. */
export interface SecretKeySources {
  /** `NANOCLAW_SECRET_KEY` */
  configured?: string | undefined
  /** `NANOCLAW_SECRET_KEY_PREVIOUS`, while keys are rotated. */
  previous?: string | undefined
}

const KEY_BYTES = 32
const KEY_FILE = 'secret.key'
const MIN_KEY_LENGTH = 16

/** The installation's keys, as `loadSecretKeys` returns them, but creates none: undefined if there are none yet. */
export function readSecretKeys(
  { configured = '', previous = '' }: SecretKeySources,
  dataDirectory: string,
): readonly Buffer[] | undefined {
  if (configured !== '')
    return [configured, ...(previous === '' ? [] : [previous])].map(operatorsKey)
  return readKeys(join(dataDirectory, KEY_FILE))
}

/**
 * The installation's keys, newest first: from the environment if set, otherwise from `secret.key` in the data folder, which
 * is created (mode 0600) on the first start. Two processes that start at the same time use the same file.
 */
export function loadSecretKeys(
  sources: SecretKeySources,
  dataDirectory: string,
): readonly Buffer[] {
  const found = readSecretKeys(sources, dataDirectory)
  if (found !== undefined) return found
  makeFolder(dataDirectory)
  const file = join(dataDirectory, KEY_FILE)
  writeOnce(file, newKey())
  return readKeys(file) ?? throwInvalidKey()
}

/**
 * Adds a new key before the current one, which still opens what it sealed. Complete the rotation with
 * `dropEarlierSecretKeys`.
 */
export function rotateSecretKey(dataDirectory: string): void {
  const keys = loadSecretKeys({}, dataDirectory).map((key) => key.toString('hex'))
  writeFileAtomically(join(dataDirectory, KEY_FILE), `${[newKey(), ...keys].join('\n')}\n`)
}

/** Removes all keys but the newest. Call it once everything is sealed with that one. */
export function dropEarlierSecretKeys(dataDirectory: string): void {
  const [newest] = loadSecretKeys({}, dataDirectory)
  if (newest !== undefined)
    writeFileAtomically(join(dataDirectory, KEY_FILE), `${newest.toString('hex')}\n`)
}

const newKey = (): string => randomBytes(KEY_BYTES).toString('hex')

function operatorsKey(text: string): Buffer {
  if (text.length < MIN_KEY_LENGTH)
    throw new AppError(
      'internal',
      `NANOCLAW_SECRET_KEY is too short. Use at least ${MIN_KEY_LENGTH} characters (openssl rand -hex 32).`,
    )
  return createHash('sha256').update(text).digest()
}

function readKeys(file: string): readonly Buffer[] | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const lines = text.split(/\s+/)
  return lines.every((line) => /^[0-9a-f]{64}$/.test(line))
    ? lines.map((line) => Buffer.from(line, 'hex'))
    : throwInvalidKey()
}

function throwInvalidKey(): never {
  throw new AppError(
    'internal',
    `${KEY_FILE} in the data folder does not contain a valid key. Restore it from your backup, or delete it to create a new one (stored API keys must then be entered again).`,
  )
}

/** Writes the file atomically. Does not replace an existing file. */
function writeOnce(file: string, text: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    fchmodSync(descriptor, 0o600)
    writeSync(descriptor, `${text}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // The other process was first. Use its key.
  } finally {
    rmSync(draft, { force: true })
  }
}
