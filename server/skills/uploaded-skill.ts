// A skill that a user uploads: a SKILL.md alone, or a ZIP archive, which may come from anywhere and is bounded in every way.
import { buffer } from 'node:stream/consumers'
import yauzl from 'yauzl'
import type { UserSkillFile } from '../db/repositories/projects/user-skills.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { decodeFileName } from '../lib/encodings.ts'
import type { UserId } from '../protocol/ids.ts'
import { parseInnerPath } from '../workspace/files/paths.ts'
import { describeSkill, SKILL_FILE, SKILL_LIMITS, sha256Of } from './found-skill.ts'

/** Folders are entries of an archive, too. */
const MAX_ENTRIES = 2 * SKILL_LIMITS.files
const UNIX_TYPE = 0o170000
const UNIX_LINK = 0o120000
/** What programs that pack add beside the files. */
const IGNORED = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db)$/

/** The refusal of a skill beyond the limits. */
export const skillTooLarge = (): AppError =>
  appError('skill_too_large', { files: SKILL_LIMITS.files, size: '10 MB', text: '200 KB' })
const invalid = (detail: string) => appError('skill_invalid', { detail })

/**
 * Stores an upload as a skill of the user, in place of the one with its name.
 * @returns its name. @throws AppError `skill_invalid`, `skill_too_large`, `skills_exhausted`; nothing is stored then.
 */
export async function storeUploadedSkill(
  userId: UserId,
  bytes: Buffer,
  dependencies: { store: Pick<Store, 'userSkills'>; now(): Date },
): Promise<string> {
  return await storeSkill(userId, await readUploadedSkill(bytes), dependencies)
}

/** A checked skill that is stored nowhere yet. */
export interface SkillUpload {
  name: string
  sha256: string
  /** Bytes of all files. */
  size: number
  files: readonly UserSkillFile[]
}

/** Reads an upload. @throws AppError `skill_invalid`, `skill_too_large`. */
export async function readUploadedSkill(bytes: Buffer): Promise<SkillUpload> {
  const { folder, files } = isZip(bytes)
    ? await readZip(bytes)
    : { folder: null, files: new Map([[SKILL_FILE, bytes]]) }
  return await checkSkill(folder, files)
}

/**
 * Replaces the SKILL.md of a skill of the user, or creates the skill; its other files stay.
 * @throws AppError as `storeUploadedSkill` does.
 */
export async function writeUserSkill(
  userId: UserId,
  name: string,
  content: string,
  dependencies: { store: Pick<Store, 'userSkills'>; now(): Date },
): Promise<void> {
  const before = await dependencies.store.userSkills.files(userId, name)
  const files = new Map(before.map((file) => [file.path, file.content]))
  files.set(SKILL_FILE, Buffer.from(content))
  await storeSkill(userId, await checkSkill(name, files), dependencies)
}

/**
 * Stores a skill of the user that consists of these files, by their paths in the folder `name`.
 * @throws AppError as `storeUploadedSkill` does.
 */
export async function storeSkillFiles(
  userId: UserId,
  name: string,
  files: ReadonlyMap<string, Buffer>,
  dependencies: { store: Pick<Store, 'userSkills'>; now(): Date },
): Promise<void> {
  for (const path of files.keys()) placeOf(path)
  await storeSkill(userId, await checkSkill(name, files), dependencies)
}

async function storeSkill(
  userId: UserId,
  { name, sha256, size, files }: SkillUpload,
  { store, now }: { store: Pick<Store, 'userSkills'>; now(): Date },
): Promise<string> {
  await store.userSkills.put({ userId, name, sha256, size, updatedAt: now() }, files)
  return name
}

/** @param folder null if the skill is named by its SKILL.md alone. */
async function checkSkill(
  folder: string | null,
  contents: ReadonlyMap<string, Buffer>,
): Promise<SkillUpload> {
  const text = contents.get(SKILL_FILE)
  if (text === undefined) throw invalid('it has no SKILL.md.')
  const size = [...contents.values()].reduce((sum, { length }) => sum + length, 0)
  if (
    text.length > SKILL_LIMITS.text ||
    contents.size > SKILL_LIMITS.files ||
    size > SKILL_LIMITS.bytes
  )
    throw skillTooLarge()
  const files: UserSkillFile[] = []
  for (const [path, content] of contents)
    files.push({ path, content, sha256: await sha256Of(content) })
  const skill = describeSkill(
    folder ?? '',
    files.map((file) => ({ ...file, size: file.content.length })),
    text,
    { isNamedByFolder: folder !== null },
  )
  if (!skill.read.ok) throw invalid(skill.read.error)
  return { name: skill.read.name, sha256: skill.sha256, size, files }
}

const isZip = (bytes: Buffer): boolean => bytes.subarray(0, 2).toString('latin1') === 'PK'

/** The files of an archive, relative to the folder of the skill; null as folder if the files are at its root. */
async function readZip(
  bytes: Buffer,
): Promise<{ folder: string | null; files: Map<string, Buffer> }> {
  const all = await readEntries(bytes).catch((error: unknown) => {
    throw error instanceof AppError ? error : invalid('the archive is damaged.')
  })
  if (all.has(SKILL_FILE)) return { folder: null, files: all }
  const tops = new Set([...all.keys()].map((path) => path.slice(0, path.indexOf('/'))))
  const [top = ''] = tops
  const isBeside = [...all.keys()].some((path) => !path.includes('/'))
  if (isBeside || tops.size !== 1 || !all.has(`${top}/${SKILL_FILE}`))
    throw invalid('SKILL.md is neither at the root of the archive nor in its only folder.')
  const files = new Map([...all].map(([path, content]) => [path.slice(top.length + 1), content]))
  return { folder: top, files }
}

async function readEntries(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await yauzl.fromBufferPromise(bytes, {
    decodeStrings: false,
    validateEntrySizes: true,
  })
  try {
    if (zip.entryCount > MAX_ENTRIES) throw skillTooLarge()
    const files = new Map<string, Buffer>()
    let left: number = SKILL_LIMITS.bytes
    for await (const entry of zip.eachEntry()) {
      const name = decodeFileName(entry.fileNameRaw)
      if (name.endsWith('/') || IGNORED.test(name)) continue
      if (((entry.externalFileAttributes >>> 16) & UNIX_TYPE) === UNIX_LINK)
        throw invalid('the archive contains links.')
      if (entry.isEncrypted()) throw invalid('the archive is encrypted.')
      const path = placeOf(name)
      if (files.has(path)) throw invalid(`it contains ${JSON.stringify(path.slice(0, 100))} twice.`)
      left -= entry.uncompressedSize
      if (left < 0 || files.size >= SKILL_LIMITS.files) throw skillTooLarge()
      files.set(path, await buffer(await zip.openReadStreamPromise(entry)))
    }
    return files
  } finally {
    zip.close()
  }
}

/** The checked path of an entry. @throws AppError `skill_invalid` for one that a project would refuse, or too deep. */
function placeOf(name: string): string {
  const shown = JSON.stringify(name.slice(0, 100))
  try {
    const { text, segments } = parseInnerPath(name)
    if (text === name && segments.length <= SKILL_LIMITS.depth + 1) return text
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
  throw invalid(`the path ${shown} is not allowed.`)
}
