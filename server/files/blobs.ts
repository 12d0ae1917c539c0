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
 * Stores contents. The database refers to them; `collectGarbage` removes those without a reference. A content is stored
 * completely or not at all, even after a crash.
 */
export interface BlobStore {
  /**
   * Stores a content, or renews its time if it is already stored. When the promise resolves, it is durable and has the
   * current time.
   * @throws AppError `disk_full`, and whatever `content` throws.
   */
  store(content: AsyncIterable<Uint8Array>): Promise<Blob>
  /** Opens a content. @throws AppError `file_content_missing` when it is not stored. */
  open(sha256: string, range?: ByteRange): Promise<Readable>
  /** All contents, in any order, with the time at which each was last stored. */
  list(): AsyncIterable<Blob & { storedAt: Date }>
  /**
   * Moves a content to the trash unless it was stored at or after `storedBefore`. `open` still finds it there and takes it
   * out again. @returns whether it was moved.
   */
  discard(sha256: string, storedBefore: Date): Promise<boolean>
  /** The contents in the trash, in any order, with the time at which each was moved there. */
  trash(): AsyncIterable<{ sha256: string; discardedAt: Date }>
  /** Takes a content out of the trash. @returns false when it is not there. */
  restore(sha256: string): Promise<boolean>
  /** Removes a content from the trash for good. */
  removeDiscarded(sha256: string): Promise<void>
  /** A short text beside the contents, such as the marker of the installation; null when there is none. */
  readNote(name: string): Promise<string | null>
  writeNote(name: string, text: string): Promise<void>
}
