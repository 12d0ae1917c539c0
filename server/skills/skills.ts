// The skills of a user in a project: where each comes from, its state, and what models receive of it.

import { LRUCache } from 'lru-cache'
import type { OwnSkill, RunSetting } from '../db/repositories/conversations/turns.ts'
import { settingsOf } from '../db/repositories/projects/projects.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Skill, SkillDetails, SkillSource, SkillState } from '../protocol/projects/skills.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { builtInSkills, MAKE_APP } from './built-in.ts'
import { describeSkill, type FoundSkill, SKILL_FILE } from './found-skill.ts'
import type { SkillText } from './front-matter.ts'
import { createSkillFolders, type FolderSkill, type SkillFolders } from './skill-folders.ts'

/** Where a project has its skills; the first wins. */
export const PROJECT_FOLDERS = ['.agents/skills', '.claude/skills'] as const

/** A skill that a run can use: its bytes are those that were accepted. */
export interface ActiveSkill extends SkillText {
  source: SkillSource
  sha256: string
  /** Paths of its files, relative to its folder. */
  files: readonly string[]
}

/** A skill in the order of its sources, with its state for a user. */
interface Candidate {
  source: SkillSource
  found: FoundSkill
  state: SkillState
  /** The bytes of one of its files; null if they are no longer those of its hash. */
  open(path: string): Promise<Buffer | null>
}

/** The skills of users. Null as project: none. */
export interface Skills {
  list(userId: UserId, projectId: ProjectId | null): Promise<Skill[]>
  /** @throws AppError `skill_not_found`. */
  get(
    userId: UserId,
    projectId: ProjectId | null,
    source: SkillSource,
    name: string,
  ): Promise<SkillDetails>
  /** A text file of a skill. @throws AppError `skill_not_found`, `skill_file_not_found`, `skill_file_not_text`. */
  file(
    userId: UserId,
    projectId: ProjectId | null,
    skill: { source: SkillSource; name: string },
    path: string,
  ): Promise<string>
  /**
   * What models and people may use, sorted by name.
   * @param known what has been read of the user already.
   */
  active(
    userId: UserId,
    projectId: ProjectId | null,
    known?: Pick<RunSetting, 'preferences' | 'ownSkills'>,
  ): Promise<ActiveSkill[]>
  /** A file of an active skill; null if there is none, or it is no text. */
  activeFile(
    userId: UserId,
    projectId: ProjectId | null,
    name: string,
    path: string,
  ): Promise<string | null>
  /**
   * The contents of files of active skills, by `<name>/<path>`, for programs; null if they have more than `maxBytes` together.
   * @param isWanted which ones.
   */
  activeContents(
    userId: UserId,
    projectId: ProjectId | null,
    isWanted: (path: string) => boolean,
    maxBytes: number,
  ): Promise<{ path: string; content: Buffer }[] | null>
  /** The state of the skill that has the name; null without one. */
  stateOf(userId: UserId, projectId: ProjectId | null, name: string): Promise<SkillState | null>
  /** The skills in the project's folders; the first of a name is the one that counts. */
  ofProject(userId: UserId, projectId: ProjectId): Promise<FolderSkill[]>
  readonly folders: SkillFolders
}

/** What the skills are read from. */
export interface SkillDependencies {
  store: Pick<Store, 'consents' | 'projects' | 'settings' | 'userSkills'>
  workspaces: Pick<Workspaces, 'open'>
  /** Absolute folders with skills of the server; the first wins. */
  serverFolders: readonly string[]
  /** Says for whom there are apps, and with them the skill that makes them. */
  access: { allowsFeature(userId: UserId, feature: 'apps'): boolean }
}

/** How long a list of the server's folders is reused, in milliseconds. */
const SERVER_LIST_MS = 5_000
/** Characters of the skills of users that are kept in memory. */
const KEPT_CHARACTERS = 64 * 1024 * 1024

/** Create one per server. */
export function createSkills({
  store,
  workspaces,
  serverFolders,
  access,
}: SkillDependencies): Skills {
  const folders = createSkillFolders()
  const ofUsers = new LRUCache<string, FoundSkill>({
    max: 500,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ read, files }) =>
      1_000 + (read.ok ? read.body.length : 0) + 200 * files.length,
  })
  const builtIn = builtInSkills()
  let builtInList: FolderSkill[] | undefined
  let ofServer: { at: number; skills: Promise<{ root: string; skill: FolderSkill }[]> } | undefined

  const inFolder = async ({ root }: Workspace): Promise<FolderSkill[]> => {
    const lists = await Promise.all(PROJECT_FOLDERS.map((base) => folders.list(root, base)))
    return lists.flat()
  }
  const ofProject = async (userId: UserId, projectId: ProjectId): Promise<FolderSkill[]> => {
    const project = await store.projects.find(userId, projectId)
    return project === undefined ? [] : await inFolder(workspaces.open(project.userId, projectId))
  }
  /**
   * An installation does not change while the server runs: what comes with it is read once. A list that a fault of the disk
   * has left incomplete is not kept.
   */
  const listServerFolder = async (root: string): Promise<FolderSkill[]> => {
    if (root === builtIn && builtInList !== undefined) return builtInList
    const skills = await folders.list(root, '')
    const isComplete = skills.length > 0 && skills.every(({ read }) => read.ok)
    if (root === builtIn && isComplete) builtInList = skills
    return skills
  }
  const ofTheServer = (): Promise<{ root: string; skill: FolderSkill }[]> => {
    if (ofServer === undefined || performance.now() - ofServer.at > SERVER_LIST_MS)
      ofServer = {
        at: performance.now(),
        skills: Promise.all(
          serverFolders.map(async (root) =>
            (await listServerFolder(root)).map((skill) => ({ root, skill })),
          ),
        ).then((lists) => lists.flat()),
      }
    return ofServer.skills
  }
  const ofUser = async (userId: UserId, known?: readonly OwnSkill[]): Promise<FoundSkill[]> => {
    const rows = known ?? (await store.userSkills.list(userId))
    return await Promise.all(
      rows.map(async ({ name, sha256 }) => {
        const key = `${userId} ${name} ${sha256}`
        const known = ofUsers.get(key)
        if (known !== undefined) return known
        const files = await store.userSkills.files(userId, name)
        const text = files.find(({ path }) => path === SKILL_FILE)?.content ?? Buffer.alloc(0)
        const found = describeSkill(
          name,
          files.map((file) => ({ ...file, size: file.content.length })),
          text,
        )
        // It may have been replaced since its hash was read.
        if (found.sha256 === sha256)
          ofUsers.set(key, {
            ...found,
            files: found.files.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
          })
        return found
      }),
    )
  }

  const candidates = async (
    userId: UserId,
    projectId: ProjectId | null,
    known?: Pick<RunSetting, 'preferences' | 'ownSkills'>,
  ): Promise<Candidate[]> => {
    const row = projectId === null ? undefined : await store.projects.find(userId, projectId)
    const folder = row === undefined ? undefined : workspaces.open(row.userId, row.id)
    const [project, own, all, preferences] = await Promise.all([
      folder === undefined ? [] : inFolder(folder),
      ofUser(userId, known?.ownSkills),
      ofTheServer(),
      known?.preferences ?? store.settings.preferences(userId),
    ])
    const server = all.filter(
      ({ skill }) => skill.folder !== MAKE_APP || access.allowsFeature(userId, 'apps'),
    )
    const off = new Set([
      ...preferences.skills_off,
      ...(row === undefined ? [] : settingsOf(row).skills_off),
    ])
    const hashes = project.flatMap(({ sha256 }) => (sha256 === '' ? [] : [sha256]))
    const decisions =
      hashes.length === 0 ? null : await store.consents.decisions(userId, 'skill', hashes)
    const taken = new Set<string>()
    const stateOf = (source: SkillSource, { folder, read, sha256 }: FoundSkill): SkillState => {
      if (!read.ok) return 'invalid'
      if (taken.has(folder)) return 'hidden'
      taken.add(folder)
      if (off.has(folder)) return 'off'
      if (source !== 'project') return 'active'
      const decision = decisions?.get(sha256)
      if (decision === undefined) return 'consent_needed'
      return decision === 'accept' ? 'active' : 'refused'
    }
    const root = folder?.root ?? ''
    return [
      ...project.map((found) => ({
        source: 'project' as const,
        found,
        open: (path: string) => folders.file(root, found, path),
      })),
      ...own.map((found) => ({
        source: 'user' as const,
        found,
        open: async (path: string) => {
          const file = await store.userSkills.file(userId, found.folder, path)
          const expected = found.files.find((one) => one.path === path)
          return file !== undefined && file.sha256 === expected?.sha256 ? file.content : null
        },
      })),
      ...server.map(({ root: place, skill: found }) => ({
        source: 'server' as const,
        found,
        open: (path: string) => folders.file(place, found, path),
      })),
    ].map((one) => ({ ...one, state: stateOf(one.source, one.found) }))
  }

  const find = async (
    userId: UserId,
    projectId: ProjectId | null,
    { source, name }: { source: SkillSource; name: string },
  ): Promise<Candidate> => {
    const all = (await candidates(userId, projectId)).filter(
      (one) => one.source === source && one.found.folder === name,
    )
    const found = all.find(({ state }) => state !== 'hidden') ?? all[0]
    if (found === undefined) throw appError('skill_not_found')
    return found
  }

  return {
    folders,
    ofProject,
    list: async (userId, projectId) => (await candidates(userId, projectId)).map(presentSkill),
    async get(userId, projectId, source, name) {
      const one = await find(userId, projectId, { source, name })
      const { read, files, sha256 } = one.found
      const accepted = await acceptedHash(store, { userId, projectId }, one.found)
      return {
        ...presentSkill(one),
        license: read.ok ? read.license : null,
        compatibility: read.ok ? read.compatibility : null,
        metadata: read.ok ? read.metadata : {},
        allowed_tools: read.ok ? read.allowed_tools : [],
        body: read.ok ? read.body : '',
        files: files.map(({ path, size }) => ({ path, size })),
        accepted_sha256: source === 'project' ? accepted : sha256,
      }
    },
    async file(userId, projectId, skill, path) {
      const { open } = await find(userId, projectId, skill)
      const bytes = await open(path)
      if (bytes === null) throw appError('skill_file_not_found', { path })
      const text = textOf(bytes)
      if (text === null) throw appError('skill_file_not_text', { path })
      return text
    },
    async active(userId, projectId, known) {
      const all = await candidates(userId, projectId, known)
      return all
        .flatMap(({ source, found, state }): ActiveSkill[] =>
          state === 'active' && found.read.ok
            ? [
                {
                  ...found.read,
                  source,
                  sha256: found.sha256,
                  files: found.files.map(({ path }) => path),
                },
              ]
            : [],
        )
        .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    },
    async activeFile(userId, projectId, name, path) {
      const all = await candidates(userId, projectId)
      const one = all.find(({ state, found }) => state === 'active' && found.folder === name)
      const bytes = (await one?.open(path)) ?? null
      return bytes === null ? null : textOf(bytes)
    },
    async activeContents(userId, projectId, isWanted, maxBytes) {
      const contents: { path: string; content: Buffer }[] = []
      let left = maxBytes
      for (const { state, found, open } of await candidates(userId, projectId)) {
        if (state !== 'active') continue
        for (const { path } of found.files.filter((one) =>
          isWanted(`${found.folder}/${one.path}`),
        )) {
          // Null: no longer what was accepted.
          const content = await open(path)
          if (content === null) continue
          left -= content.length
          if (left < 0) return null
          contents.push({ path: `${found.folder}/${path}`, content })
        }
      }
      return contents
    },
    async stateOf(userId, projectId, name) {
      const all = (await candidates(userId, projectId)).filter(({ found }) => found.folder === name)
      return (
        (all.find(({ state }) => !['hidden', 'invalid'].includes(state)) ?? all[0])?.state ?? null
      )
    },
  }
}

/**
 * Returns the active skills, among which a person may ask for each of these.
 * @throws AppError `skill_unknown` or `skill_not_active`; `details` has the name, and the state of a skill that exists.
 */
export async function requireSkills(
  skills: Pick<Skills, 'active' | 'stateOf'>,
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  names: readonly string[],
): Promise<ActiveSkill[]> {
  const active = await skills.active(userId, projectId)
  for (const name of names) {
    if (active.some((skill) => skill.name === name && skill.userInvocable)) continue
    const state = await skills.stateOf(userId, projectId, name)
    throw state === null
      ? appError('skill_unknown', { name }, { details: { name } })
      : appError('skill_not_active', { name }, { details: { name, state } })
  }
  return active
}

/** The hash of the version of a project's skill that the user has accepted last; null without one. */
async function acceptedHash(
  store: Pick<Store, 'consents'>,
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  found: FoundSkill,
): Promise<string | null> {
  if (projectId === null || !isFolderSkill(found)) return null
  const decisions = await store.consents.decisions(userId, 'skill', [found.sha256])
  if (decisions.get(found.sha256) === 'accept') return found.sha256
  return (await store.consents.lastAcceptedHash(userId, projectId, found.path)) ?? null
}

const isFolderSkill = (found: FoundSkill): found is FolderSkill => 'path' in found

/** The text of a file; null for a binary one. */
export function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

const presentSkill = ({ source, found, state }: Candidate): Skill => {
  const { folder, read, sha256, tokens, files } = found
  return {
    name: folder,
    description: read.ok ? read.description : '',
    source,
    ...(source === 'project' && isFolderSkill(found) ? { path: found.path } : {}),
    state,
    model_invocable: read.ok && read.modelInvocable,
    user_invocable: read.ok && read.userInvocable,
    tokens,
    sha256,
    files: files.length,
    warnings: read.warnings,
    ...(read.ok ? {} : { error: read.error }),
  }
}
