// The blob store: immutable contents named by their SHA-256, outside of the database.
import type { Readable } from 'node:stream'

/** A stored content. */
export interface Blob {
  /** SHA-256 of the bytes, hexadecimal: its name. */
  sha256: string
  size: number
}

/** A part of a content: offsets of its first byte and of the byte after its last. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Stores contents. The database refers to them; `collectBlobs` removes those without a reference. A content is stored
 * completely or not at all, even after a crash.
 */
export interface BlobStore {
  /**
   * Stores a content, or renews its time if it is already stored. When the promise resolves, it is durable and has the
   * current time.
   * @throws AppError `disk_full`, and whatever `content` throws.
   */
  put(content: AsyncIterable<Uint8Array>): Promise<Blob>
  /** Opens a content. @throws AppError `file_content_missing` when it is not stored. */
  open(sha256: string, range?: ByteRange): Promise<Readable>
  /** All contents, in any order, with the time at which each was last stored. */
  list(): AsyncIterable<Blob & { storedAt: Date }>
  /** Removes a content unless it was stored at or after `putBefore`. @returns whether it was removed. */
  remove(sha256: string, putBefore: Date): Promise<boolean>
}
