// Encrypts secrets at rest: AES-256-GCM with one key per installation, stored outside the database.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { AppError, appError } from '../errors.ts'

/** Encrypts and decrypts texts. A text can only be opened for the `purpose` that it was sealed for. */
export interface SecretBox {
  seal(text: string, purpose: string): string
  /** @throws AppError when the text was sealed with another key or for another purpose, or was modified. */
  open(sealed: string, purpose: string): string
}

const VERSION = 'v1'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_FILE = 'secret.key'
const MIN_KEY_LENGTH = 16

/**
 * @param key 32 bytes.
 * @param onSecret called with every text that is sealed or opened.
 */
export function createSecretBox(
  key: Buffer,
  onSecret: (text: string) => void = () => {},
): SecretBox {
  return {
    seal(text, purpose) {
      onSecret(text)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(sealed, purpose) {
      const [version, encoded = ''] = sealed.split('.')
      const bytes = Buffer.from(encoded, 'base64url')
      try {
        if (version !== VERSION) throw new Error('unknown version of a sealed text')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(purpose))
          .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const text =
          decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') +
          decipher.final('utf8')
        onSecret(text)
        return text
      } catch (cause) {
        throw appError('secret_unreadable', {}, { cause })
      }
    },
  }
}

/**
 * The installation's key: from `NANOCLAW_SECRET_KEY` if set, otherwise from `secret.key` in the data folder, which is
 * created (mode 0600) on the first start. Two processes that start at the same time use the same file.
 */
export function loadSecretKey(environmentKey: string | undefined, dataDirectory: string): Buffer {
  if (environmentKey !== undefined && environmentKey !== '') {
    if (environmentKey.length < MIN_KEY_LENGTH)
      throw new AppError(
        'internal',
        `NANOCLAW_SECRET_KEY is too short. Use at least ${MIN_KEY_LENGTH} characters (openssl rand -hex 32).`,
      )
    return createHash('sha256').update(environmentKey).digest()
  }
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const file = join(dataDirectory, KEY_FILE)
  const found = readKey(file)
  if (found !== undefined) return found
  writeOnce(file, randomBytes(KEY_BYTES).toString('hex'))
  return readKey(file) ?? throwInvalidKey()
}

function readKey(file: string): Buffer | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // Only the code distinguishes a missing file from an unreadable one.
    throw error
  }
  return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : throwInvalidKey()
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
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // The other process was first: its key is used.
  } finally {
    rmSync(draft, { force: true })
  }
}
