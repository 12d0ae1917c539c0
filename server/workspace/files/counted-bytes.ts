// What an entry of a project counts towards limits and quotas.
import type { EntryKind } from './walk.ts'

/** What a folder, a link or a short file counts at least, so that many of them count, too. */
export const ENTRY_BYTES = 256

/** The bytes that an entry counts. @param size the bytes of a file. */
export const countedBytes = (kind: EntryKind, size: number): number =>
  kind === 'file' ? Math.max(size, ENTRY_BYTES) : ENTRY_BYTES
