// A skill as it was read: what its SKILL.md says, its files, and the hash of exactly these bytes.
import { createHash } from 'node:crypto'
import { estimateTokens } from '../protocol/models/token-estimate.ts'
import { type ReadSkill, readSkillText } from './front-matter.ts'

/** The limits of a skill. */
export const SKILL_LIMITS = {
  /** Bytes of SKILL.md. */
  text: 200 * 1024,
  files: 1_000,
  /** Bytes of all files. */
  bytes: 10 * 1024 * 1024,
  /** Folders below each other, including its own. */
  depth: 6,
} as const

/** The file with the instructions of a skill. */
export const SKILL_FILE = 'SKILL.md'

/** A file of a skill; `path` is relative to its folder. */
export interface SkillFileInfo {
  path: string
  /** Bytes. */
  size: number
  sha256: string
}

/** A skill as it was read. */
export interface FoundSkill {
  /** The name of its folder. */
  folder: string
  read: ReadSkill
  /** Sorted by path. */
  files: readonly SkillFileInfo[]
  /** '' if it is too large to be read. */
  sha256: string
  /** Of its instructions. */
  tokens: number
}

/** Bytes that are hashed per turn of the event loop: about a millisecond. */
const PIECE_BYTES = 1024 * 1024

/** SHA-256 of some bytes, hexadecimal. Gives way to other work after each megabyte. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    hash.update(bytes.subarray(at, at + PIECE_BYTES))
  }
  return hash.digest('hex')
}

/** The hash of a skill: of the sorted lines `<sha256 of a file>  <path>` of its files. */
export const skillHash = (files: readonly Pick<SkillFileInfo, 'path' | 'sha256'>[]): string =>
  createHash('sha256')
    .update(
      files
        .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
        .sort()
        .join(''),
    )
    .digest('hex')

/** Puts what was read of a skill together. @param text the bytes of its SKILL.md, whose hash is in `files`. */
export function describeSkill(
  folder: string,
  files: readonly SkillFileInfo[],
  text: Uint8Array,
  {
    isNamedByFolder = true,
    warnings = [],
  }: { isNamedByFolder?: boolean; warnings?: string[] } = {},
): FoundSkill {
  const read = readSkillText(text, isNamedByFolder ? folder : null)
  read.warnings.push(...warnings)
  return {
    folder: read.ok && !isNamedByFolder ? read.name : folder,
    read,
    files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
    sha256: skillHash(files),
    tokens: read.ok ? estimateTokens(read.body) : 0,
  }
}

/** A skill that cannot be read at all. */
export const unreadableSkill = (folder: string, error: string): FoundSkill => ({
  folder,
  read: { ok: false, error, warnings: [] },
  files: [],
  sha256: '',
  tokens: 0,
})
