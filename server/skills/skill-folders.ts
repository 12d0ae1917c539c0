// Reads skills from folders of a disk: of a project, or of the server. Bounded, without following links.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AppError, appError } from '../errors.ts'
import { type Entry, readFolder, readWhole, statEntry } from '../workspace/files/entries.ts'
import { parsePath, withFolder, withPlace } from '../workspace/files/paths.ts'
import {
  describeSkill,
  type FoundSkill,
  SKILL_FILE,
  SKILL_LIMITS,
  sha256Of,
  unreadableSkill,
} from './found-skill.ts'

/** A skill of a folder, and where it is. */
export interface FolderSkill extends FoundSkill {
  /** Its folder, relative to the root. */
  path: string
  /** When one of its files last changed, in milliseconds since the epoch. */
  changedAt: number
}

/** More skills of a folder are ignored. */
const MAX_SKILLS = 300
/** Files and folders in all skills of a folder together. */
const MAX_ENTRIES = 5_000
const TOO_MANY = `All skills of its folder together have more than ${MAX_ENTRIES} files.`
/** Characters of the skills that are kept in memory. */
const KEPT_CHARACTERS = 64 * 1024 * 1024

/** Reads skills of folders. Skills whose files have not changed since are not read again. */
export interface SkillFolders {
  /** The skills in the folders directly below `base`, sorted; none if there is no such folder. */
  list(root: string, base: string): Promise<FolderSkill[]>
  /**
   * Checks that a skill can be read among the others of `base`, which may have one of its name. `entries`: its files and folders.
   * @throws AppError `conflict` if there would be more than are read.
   */
  assertRoom(root: string, base: string, skill: { name: string; entries: number }): Promise<void>
  /** The skill in the folder `path`; null without a SKILL.md. */
  read(root: string, path: string): Promise<FolderSkill | null>
  /** A file of a skill that was read; null if its bytes are no longer those of the hash. */
  file(root: string, skill: FolderSkill, path: string): Promise<Buffer | null>
}

/** Create one per server. */
export function createSkillFolders(): SkillFolders {
  const known = new LRUCache<string, { signature: string; skill: FolderSkill }>({
    max: 500,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ skill: { read, files } }) =>
      1_000 +
      (read.ok ? read.body.length : 0) +
      files.reduce((sum, { path }) => sum + path.length + 200, 0),
  })

  const readFound = async (
    root: string,
    path: string,
    budget: { entries: number },
  ): Promise<FolderSkill | null> => {
    if (!(await hasText(root, path))) return null
    const folder = path.slice(path.lastIndexOf('/') + 1)
    if (budget.entries < 0) return { ...unreadableSkill(folder, TOO_MANY), path, changedAt: 0 }
    const found = await filesBelow(root, path, budget)
    if (found === null) return null
    const { files, hasLinks, changedAt } = found
    const at = { path, changedAt }
    if (found.fault !== null) return { ...unreadableSkill(folder, found.fault), ...at }
    if (!files.some((file) => file.path === `${path}/${SKILL_FILE}`)) return null
    const signature = createHash('sha256')
    for (const file of files) signature.update(`${file.path} ${file.size} ${file.changedAt}\n`)
    const signed = signature.digest('hex')
    const key = `${root}\n${path}`
    const before = known.get(key)
    if (before?.signature === signed) return before.skill
    const skill = { ...(await readFiles(root, path, folder, files, hasLinks)), ...at }
    known.set(key, { signature: signed, skill })
    return skill
  }
  /** A folder that changes while it is read, or has names that no file may have, is invalid. */
  const read = (
    root: string,
    path: string,
    budget = { entries: MAX_ENTRIES },
  ): Promise<FolderSkill | null> =>
    readFound(root, path, budget).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error
      const folder = path.slice(path.lastIndexOf('/') + 1)
      return { ...unreadableSkill(folder, error.message), path, changedAt: 0 }
    })

  const readAll = async (
    root: string,
    entries: readonly Entry[],
    budget: { entries: number },
  ): Promise<FolderSkill[]> => {
    const skills: FolderSkill[] = []
    for (const entry of entries) {
      if (skills.length >= MAX_SKILLS) break
      if (entry.kind !== 'directory') continue
      const skill = await read(root, entry.path, budget)
      if (skill !== null) skills.push(skill)
    }
    return skills
  }

  return {
    read: (root, path) => read(root, path),
    list: async (root, base) =>
      await readAll(root, (await entriesOf(root, base)) ?? [], { entries: MAX_ENTRIES }),
    async assertRoom(root, base, { name, entries }) {
      const found = (await entriesOf(root, base)) ?? []
      const budget = { entries: MAX_ENTRIES - entries }
      const others = await readAll(
        root,
        found.filter((one) => one.name !== name),
        budget,
      )
      const isFull =
        found.length > SKILL_LIMITS.files || others.length >= MAX_SKILLS || budget.entries < 0
      if (isFull) throw appError('project_skills_full', { limit: MAX_SKILLS, entries: MAX_ENTRIES })
    },
    async file(root, skill, path) {
      const expected = skill.files.find((file) => file.path === path)
      if (expected === undefined) return null
      const bytes = await bytesOf(root, `${skill.path}/${path}`, SKILL_LIMITS.bytes).catch(gone)
      return bytes !== null && (await sha256Of(bytes)) === expected.sha256 ? bytes : null
    },
  }
}

/** The entries of a folder, sorted; null if there is none, or a link is on the way. */
const entriesOf = (root: string, path: string): Promise<Entry[] | null> =>
  withFolder(root, parsePath(path), async (folder) => {
    const { entries } = await readFolder(folder, path, SKILL_LIMITS.files + 1)
    return entries
  }).catch(gone)

function gone(error: unknown): null {
  if (error instanceof AppError && error.status < 500) return null
  throw error
}

/** Whether the folder has a SKILL.md: other folders are not walked. */
const hasText = async (root: string, path: string): Promise<boolean> =>
  (await withPlace(root, parsePath(`${path}/${SKILL_FILE}`), {}, ({ real }) =>
    statEntry(real),
  ).catch(gone)) !== null

/**
 * All files below a folder, or the first limit that they exceed; null if there is no such folder.
 * @param budget what is left for this skill and the next ones.
 */
async function filesBelow(root: string, path: string, budget: { entries: number }) {
  const files: Entry[] = []
  let hasLinks = false
  let count = 0
  let bytes = 0
  let changedAt = 0
  const faultOf = (entry: Entry, depth: number): string | null => {
    if (count > SKILL_LIMITS.files) return `It has more than ${SKILL_LIMITS.files} files.`
    if (budget.entries < 0) return TOO_MANY
    if (bytes > SKILL_LIMITS.bytes)
      return `Its files have more than ${SKILL_LIMITS.bytes / 1024 / 1024} MB.`
    if (entry.path === `${path}/${SKILL_FILE}` && entry.size > SKILL_LIMITS.text)
      return `SKILL.md has more than ${SKILL_LIMITS.text / 1024} KB.`
    if (entry.kind === 'directory' && depth >= SKILL_LIMITS.depth)
      return `Its folders are more than ${SKILL_LIMITS.depth} deep.`
    return null
  }
  /** The first fault below the folder; null without one, or if there is no such folder. */
  const visit = async (entries: readonly Entry[], depth: number): Promise<string | null> => {
    for (const entry of entries) {
      count += 1
      budget.entries -= 1
      bytes += entry.size
      const fault = faultOf(entry, depth)
      if (fault !== null) return fault
      if (entry.kind === 'file') {
        files.push(entry)
        changedAt = Math.max(changedAt, entry.changedAt)
      } else if (entry.kind === 'directory') {
        const below = await visit((await entriesOf(root, entry.path)) ?? [], depth + 1)
        if (below !== null) return below
      } else hasLinks = true
    }
    return null
  }
  const top = await entriesOf(root, path)
  if (top === null) return null
  const fault = await visit(top, 1)
  return { files, hasLinks, changedAt, fault }
}

async function readFiles(
  root: string,
  path: string,
  folder: string,
  entries: readonly Entry[],
  hasLinks: boolean,
): Promise<FoundSkill> {
  let text: Buffer = Buffer.alloc(0)
  const files = []
  for (const entry of entries) {
    const inner = entry.path.slice(path.length + 1)
    const bytes = await bytesOf(
      root,
      entry.path,
      inner === SKILL_FILE ? SKILL_LIMITS.text : SKILL_LIMITS.bytes,
    )
    if (inner === SKILL_FILE) text = bytes
    files.push({ path: inner, size: bytes.length, sha256: await sha256Of(bytes) })
  }
  return describeSkill(folder, files, text, {
    warnings: hasLinks ? ['Links in its folder are not followed.'] : [],
  })
}

const bytesOf = async (root: string, path: string, maxBytes: number): Promise<Buffer> => {
  const inner = parsePath(path)
  return await withPlace(root, inner, {}, async (place) => {
    const { bytes } = await readWhole(place, inner, maxBytes)
    return bytes
  })
}
