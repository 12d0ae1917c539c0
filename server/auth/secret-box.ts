// Encrypts secrets at rest: AES-256-GCM with one key per installation, stored outside the database.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AppError, appError } from '../errors.ts'

/** Encrypts and decrypts texts. A text can only be opened for the `purpose` that it was sealed for. */
export interface SecretBox {
  seal(text: string, purpose: string): string
  /** @throws AppError when the text was sealed with another key or for another purpose, or was modified. */
  open(sealed: string, purpose: string): string
}

/** The text, or null if no key of the installation opens it: the secret then counts as not stored. */
export function openIfReadable(
  box: Pick<SecretBox, 'open'>,
  sealed: string,
  purpose: string,
): string | null {
  try {
    return box.open(sealed, purpose)
  } catch (error) {
    if (error instanceof AppError && error.reason === 'secret_unreadable') return null
    throw error
  }
}

const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * @param keys of 32 bytes each: the first one seals, the others open what was sealed before keys were rotated.
 * @param onSecret called with every text that is sealed or opened.
 */
export function createSecretBox(
  keys: Buffer | readonly Buffer[],
  onSecret: (text: string) => void = () => {},
): SecretBox {
  const all = Buffer.isBuffer(keys) ? [keys] : keys
  const [key = Buffer.alloc(0)] = all

  function decrypt(bytes: Buffer, purpose: string, tried: Buffer): string {
    const decipher = createDecipheriv('aes-256-gcm', tried, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    return (
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') +
      decipher.final('utf8')
    )
  }

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
      let cause: unknown = new Error('unknown version of a sealed text')
      for (const tried of version === VERSION ? all : [])
        try {
          const text = decrypt(bytes, purpose, tried)
          onSecret(text)
          return text
        } catch (error) {
          cause = error
        }
      throw appError('secret_unreadable', {}, { cause })
    },
  }
}
