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
 * Where contents are stored. What refers to them is in the database; `collectBlobs` removes what nothing refers to.
 * A content is stored completely or not at all, also after a crash.
 */
export interface BlobStore {
  /**
   * Stores a content, or renews it if it is stored already: when the promise resolves it is durable and as old as now.
   * @throws AppError `disk_full`, and whatever `content` throws.
   */
  put(content: AsyncIterable<Uint8Array>): Promise<Blob>
  /** Opens a content. @throws AppError `file_content_missing` when it is not stored. */
  open(sha256: string, range?: ByteRange): Promise<Readable>
  /** All contents, in no order, with the time at which each was last put. */
  list(): AsyncIterable<Blob & { storedAt: Date }>
  /** Removes a content unless it was put at or after `putBefore`. @returns whether it was removed. */
  remove(sha256: string, putBefore: Date): Promise<boolean>
}
