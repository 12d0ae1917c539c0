// The consent of a user to what is written for models in a project: its skills and its AGENTS.md, each version by its hash.
import { createHash } from 'node:crypto'
import type { ConsentRow } from '../db/repositories/projects/consents.ts'
import type { Store } from '../db/store.ts'
import type { AcceptedFile } from '../db/tables/projects/skills.ts'
import { AppError, appError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { AgentsMd, ConsentBody, ConsentItem, Suspicious } from '../protocol/projects/skills.ts'
import type { MakeDiff } from '../workspace/checkpoints/diff/diffs.ts'
import { openProject } from '../workspace/open-project.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import { SKILL_FILE, sha256Of } from './found-skill.ts'
import type { FolderSkill } from './skill-folders.ts'
import { PROJECT_FOLDERS, type Skills, textOf } from './skills.ts'
import { MAX_PLACES, suspiciousIn } from './suspicious.ts'

/** The instructions for agents of a project; the first that exists counts. */
const AGENTS_FILES = ['AGENTS.md', 'CLAUDE.md'] as const
/** Models receive this many bytes of them. */
const AGENTS_BYTES = 32 * 1024
/** Longer texts are shown without a comparison. */
const COMPARED_CHARACTERS = 200 * 1024
/** Characters of all comparisons of one item. */
const DIFF_CHARACTERS = 400_000
/** Changes of a project that are searched for who has changed a file. */
const SEARCHED_CHECKPOINTS = 100
/** What waits is presented in parts: the next ones come when these are decided. */
const ITEMS_PER_LIST = 20
/** Suspicious places of one item; and as many files that are not shown. */
const PLACES_PER_ITEM = 100

interface At {
  userId: UserId
  projectId: ProjectId
}

/** The consent of users. The caller has checked that the project is the user's. */
export interface Consents {
  /** What waits for the user, with what has changed since the accepted version; at most `ITEMS_PER_LIST`. */
  waiting(at: At): Promise<ConsentItem[]>
  /** @throws AppError `content_changed` for another version than the current one, `skill_not_found`, `skill_invalid`, `consent_without_file`. */
  decide(at: At, decision: ConsentBody): Promise<void>
  /** A person has written a file of the project: what they wrote themselves needs no consent. */
  written(at: At, path: string, bytes: Uint8Array): Promise<void>
  /** The instructions for agents of a project, with their text if the user has accepted exactly these bytes. */
  agentsMd(at: At): Promise<{ info: AgentsMd; text: string | null }>
  /** Whether the file is one for models, of a version that the user has not accepted. */
  isUnaccepted(at: At, path: string, read: () => Promise<Uint8Array>): Promise<boolean>
}

/** What consent is made from. */
interface Dependencies {
  store: Pick<Store, 'checkpoints' | 'consents' | 'projects'>
  workspaces: Pick<Workspaces, 'open'>
  skills: Pick<Skills, 'ofProject' | 'folders'>
  makeDiff: MakeDiff
  now(): Date
}

/** A version that a user may accept. */
interface Version {
  what: 'skill' | 'agents_md'
  name?: string
  path: string
  sha256: string
  changedAt: number
  /** Whether its file has more than what models receive, and what is shown. */
  isCut: boolean
  /** Its files with their texts, the instructions first; null when one of them has changed since. */
  files(): Promise<AcceptedFile[] | null>
}

/** Create one per server. */
export function createConsents(dependencies: Dependencies): Consents {
  const { store, skills, now } = dependencies
  const rowOf = (
    { userId, projectId }: At,
    { what, path, sha256 }: Pick<ConsentRow, 'what' | 'path' | 'sha256'>,
    decided: Pick<ConsentRow, 'decision' | 'files'>,
  ): ConsentRow => ({ userId, projectId, what, path, sha256, ...decided, decidedAt: now() })

  const versionOf = async (at: At, { what, name }: ConsentBody): Promise<Version> => {
    if (what === 'agents_md') {
      const found = await readAgents(dependencies, at)
      if (found === null) throw appError('consent_without_file')
      return agentsVersion(found)
    }
    const skill = (await skills.ofProject(at.userId, at.projectId)).find(
      ({ folder, read }) => folder === name && read.ok,
    )
    if (skill === undefined) throw appError('skill_not_found')
    return skillVersion(dependencies, at, skill)
  }

  return {
    async waiting(at) {
      const versions = await undecided(dependencies, at)
      // One after the other: each has the texts of a whole skill in memory.
      const items: ConsentItem[] = []
      for (const version of versions.slice(0, ITEMS_PER_LIST))
        items.push(await presentItem(dependencies, at, version))
      return items
    },
    async decide(at, body) {
      const version = await versionOf(at, body)
      const changed = () => appError('content_changed')
      if (version.sha256 !== body.sha256) throw changed()
      const found = body.decision === 'accept' ? await version.files() : null
      if (body.decision === 'accept' && found === null) throw changed()
      const files = found === null ? null : keptTexts(found)
      await store.consents.decide([rowOf(at, version, { decision: body.decision, files })])
    },
    async written(at, path, bytes) {
      if (AGENTS_FILES.some((name) => name === path)) {
        const sha256 = await sha256Of(bytes)
        const files = [{ path, sha256, text: agentsText(bytes) }]
        await store.consents.decide([
          rowOf(at, { what: 'agents_md', path, sha256 }, { decision: 'accept', files }),
        ])
        return
      }
      const inner = placeInSkill(path)
      if (inner === null) return
      const own = ownFile(inner.file, await sha256Of(bytes))
      await store.consents.decide([
        rowOf(at, { what: 'file', path, sha256: own }, { decision: 'accept', files: null }),
      ])
      await acceptOwn(dependencies, at, inner.folder, rowOf)
    },
    async agentsMd(at) {
      const found = await readAgents(dependencies, at)
      if (found === null) return { info: { path: null, sha256: null, state: 'none' }, text: null }
      const { path, sha256, bytes } = found
      const decision = (await store.consents.decisions(at.userId, 'agents_md', [sha256])).get(
        sha256,
      )
      const state =
        decision === undefined ? 'consent_needed' : decision === 'accept' ? 'accepted' : 'refused'
      return {
        info: { path, sha256, state },
        text: state === 'accepted' ? agentsText(bytes) : null,
      }
    },
    async isUnaccepted(at, path, read) {
      if (AGENTS_FILES.some((name) => name === path)) {
        const sha256 = await sha256Of(await read())
        const decisions = await store.consents.decisions(at.userId, 'agents_md', [sha256])
        return decisions.get(sha256) !== 'accept'
      }
      const inner = placeInSkill(path)
      if (inner === null) return false
      const { root } = await folderOf(dependencies, at)
      const skill = await skills.folders.read(root, inner.folder)
      if (skill === null || skill.sha256 === '') return true
      const decisions = await store.consents.decisions(at.userId, 'skill', [skill.sha256])
      const expected = skill.files.find((file) => file.path === inner.file)?.sha256
      return decisions.get(skill.sha256) !== 'accept' || expected !== (await sha256Of(await read()))
    },
  }
}

/** The folder of the project, which another user may store. @throws AppError `project_not_found`. */
async function folderOf(
  { store, workspaces }: Pick<Dependencies, 'store' | 'workspaces'>,
  { userId, projectId }: At,
): Promise<Workspace> {
  const { projects } = store
  return (await openProject({ projects, workspaces }, userId, projectId, 'read')).workspace
}

/** Accepts a skill of which the user has written every file that was not in an accepted version. */
async function acceptOwn(
  dependencies: Dependencies,
  at: At,
  folder: string,
  rowOf: (
    at: At,
    version: Pick<ConsentRow, 'what' | 'path' | 'sha256'>,
    decided: Pick<ConsentRow, 'decision' | 'files'>,
  ) => ConsentRow,
): Promise<void> {
  const { store, skills } = dependencies
  const { userId, projectId } = at
  const { root } = await folderOf(dependencies, at)
  const skill = await skills.folders.read(root, folder)
  if (skill === null || !skill.read.ok) return
  const before = await store.consents.lastAccepted(userId, projectId, folder)
  const accepted = new Set(before?.files?.map(({ path, sha256 }) => ownFile(path, sha256)))
  const hashes = skill.files.map(({ path, sha256 }) => ownFile(path, sha256))
  const written = await store.consents.decisions(userId, 'file', hashes)
  if (!hashes.every((hash) => accepted.has(hash) || written.get(hash) === 'accept')) return
  const version = skillVersion(dependencies, at, skill)
  const files = await version.files()
  if (files !== null)
    await store.consents.decide([
      rowOf(at, version, { decision: 'accept', files: keptTexts(files) }),
    ])
}

/** What the user has neither accepted nor refused, the instructions for agents first. */
async function undecided(dependencies: Dependencies, at: At): Promise<Version[]> {
  const { store, skills } = dependencies
  const agents = await readAgents(dependencies, at)
  const all = await skills.ofProject(at.userId, at.projectId)
  const first = new Map<string, FolderSkill>()
  for (const skill of all)
    if (skill.read.ok && !first.has(skill.folder)) first.set(skill.folder, skill)
  const versions = [
    ...(agents === null ? [] : [agentsVersion(agents)]),
    ...[...first.values()].map((skill) => skillVersion(dependencies, at, skill)),
  ]
  const decided = async (what: Version['what']) =>
    await store.consents.decisions(
      at.userId,
      what,
      versions.flatMap((one) => (one.what === what ? [one.sha256] : [])),
    )
  const of = { skill: await decided('skill'), agents_md: await decided('agents_md') }
  return versions.filter(({ what, sha256 }) => !of[what].has(sha256))
}

type Agents = { path: string; sha256: string; bytes: Buffer; changedAt: number }

const agentsVersion = ({ path, sha256, bytes, changedAt }: Agents): Version => ({
  what: 'agents_md',
  path,
  sha256,
  changedAt,
  isCut: bytes.length > AGENTS_BYTES,
  files: async () => [{ path, sha256, text: agentsText(bytes) }],
})

const skillVersion = (
  dependencies: Pick<Dependencies, 'store' | 'workspaces' | 'skills'>,
  at: At,
  skill: FolderSkill,
): Version => ({
  what: 'skill',
  name: skill.folder,
  path: skill.path,
  sha256: skill.sha256,
  changedAt: skill.changedAt,
  isCut: false,
  async files() {
    const { skills } = dependencies
    const { root } = await folderOf(dependencies, at)
    const files: AcceptedFile[] = []
    const isText = ({ path }: { path: string }) => path === SKILL_FILE
    const sorted = [...skill.files.filter(isText), ...skill.files.filter((file) => !isText(file))]
    for (const { path, sha256 } of sorted) {
      const bytes = await skills.folders.file(root, skill, path)
      if (bytes === null) return null
      files.push({ path, sha256, text: comparable(bytes) })
    }
    return files
  },
})

/** The instructions for agents of a project; null if there are none, or they are too large to be read. */
async function readAgents(
  dependencies: Pick<Dependencies, 'store' | 'workspaces'>,
  at: At,
): Promise<Agents | null> {
  const workspace = await folderOf(dependencies, at)
  const entries = await workspace.list('')
  const entry = AGENTS_FILES.map((name) =>
    entries.find((one) => one.name === name && one.kind === 'file'),
  ).find((one) => one !== undefined)
  if (entry === undefined) return null
  try {
    const { bytes } = await workspace.read(entry.path)
    return { path: entry.path, sha256: await sha256Of(bytes), bytes, changedAt: entry.changedAt }
  } catch (error) {
    // Removed or replaced meanwhile, or too large.
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}

/** The folder of the skill that a file of a project belongs to, and the path in it; null for other files. */
function placeInSkill(path: string): { folder: string; file: string } | null {
  for (const base of PROJECT_FOLDERS) {
    if (!path.startsWith(`${base}/`)) continue
    const [name = '', ...rest] = path.slice(base.length + 1).split('/')
    if (name !== '' && rest.length > 0) return { folder: `${base}/${name}`, file: rest.join('/') }
  }
  return null
}

/** Stands for a file of a skill that a user has written. Its path is part of it: a rename is no consent. */
const ownFile = (path: string, sha256: string): string =>
  createHash('sha256').update(`${path}\0${sha256}`).digest('hex')

/** The text of a file that can be compared; null for others. */
function comparable(bytes: Uint8Array): string | null {
  if (bytes.length > COMPARED_CHARACTERS) return null
  return textOf(bytes)
}

/**
 * What models receive of the instructions for agents, and what the person is shown: the first bytes, with a replacement for
 * what is no text. An incomplete character at the end is left out.
 */
const agentsText = (bytes: Uint8Array): string =>
  new TextDecoder()
    .decode(bytes.subarray(0, AGENTS_BYTES), { stream: true })
    .replaceAll('\0', '\ufffd')

/** The files as they are stored for the next comparison: with texts up to `DIFF_CHARACTERS` in all. */
function keptTexts(files: readonly AcceptedFile[]): AcceptedFile[] {
  let left = DIFF_CHARACTERS
  return files.map((file) => {
    left -= file.text?.length ?? 0
    return left < 0 ? { ...file, text: null } : file
  })
}

async function presentItem(
  { store, makeDiff }: Dependencies,
  at: At,
  version: Version,
): Promise<ConsentItem> {
  const { what, name, path, sha256, changedAt } = version
  const accepted = await store.consents.lastAccepted(at.userId, at.projectId, path)
  const files = (await version.files()) ?? []
  const { diff, notShown } = await diffOf(makeDiff, files, accepted?.files ?? [])
  if (version.isCut) notShown.add(path)
  const places = await placesIn(files, notShown)
  return {
    what,
    ...(name === undefined ? {} : { name }),
    path,
    sha256,
    accepted_sha256: accepted?.sha256 ?? null,
    diff,
    suspicious: [...listed(notShown), ...places],
    changed_by: await changedBy(store, at.projectId, path),
    changed_at: new Date(changedAt).toISOString(),
  }
}

/** Compares a version with the accepted one. @returns also the paths of new contents that the diff leaves out. */
async function diffOf(
  makeDiff: MakeDiff,
  files: readonly AcceptedFile[],
  accepted: readonly AcceptedFile[],
): Promise<{ diff: string; notShown: Set<string> }> {
  const notShown = new Set<string>()
  const before = new Map(accepted.map((file) => [file.path, file]))
  const parts: string[] = []
  let left = DIFF_CHARACTERS
  for (const file of files) {
    const old = before.get(file.path)
    before.delete(file.path)
    if (old?.sha256 === file.sha256) continue
    const { diff } =
      file.text === null
        ? { diff: `--- a/${file.path}\n+++ b/${file.path}\n\\ Not a text that can be compared.\n` }
        : await makeDiff(file.path, old?.text ?? null, file.text)
    // A line of a diff that begins so says that something is left out.
    if (diff.length > left || /^\\ (?!No newline)/m.test(diff)) notShown.add(file.path)
    parts.push(diff.slice(0, Math.max(0, left)))
    left -= diff.length
  }
  for (const file of before.values()) {
    if (left <= 0) break
    const { diff } = await makeDiff(file.path, file.text ?? '', null)
    parts.push(diff.slice(0, left))
    left -= diff.length
  }
  return { diff: parts.join(''), notShown }
}

/** The suspicious places of the files. A file of which some are left out is added to `notShown`. */
async function placesIn(
  files: readonly AcceptedFile[],
  notShown: Set<string>,
): Promise<Suspicious[]> {
  const all: Suspicious[] = []
  for (const file of files) {
    const places = await suspiciousIn(file.text ?? '')
    const isCut = places.length >= MAX_PLACES || all.length + places.length > PLACES_PER_ITEM
    if (isCut && places.length > 0) notShown.add(file.path)
    if (all.length < PLACES_PER_ITEM)
      for (const place of places)
        all.push(files.length === 1 ? place : { ...place, detail: `${file.path}: ${place.detail}` })
  }
  return all.slice(0, PLACES_PER_ITEM)
}

/** One place for each file that is not shown, and one for those beyond the limit. */
function listed(notShown: ReadonlySet<string>): Suspicious[] {
  const paths = [...notShown]
  const shown = paths.slice(0, PLACES_PER_ITEM - 1)
  const more = paths.length - shown.length
  return [...shown, ...(more > 0 ? [`… + ${more}`] : [])].map((detail) => ({
    kind: 'not_shown',
    line: 0,
    detail,
  }))
}

/** The tool of the last change of a file or folder; null if it is not among the last changes. */
async function changedBy(
  { checkpoints }: Pick<Store, 'checkpoints'>,
  projectId: ProjectId,
  path: string,
): Promise<string | null> {
  const rows = await checkpoints.list(projectId, { limit: SEARCHED_CHECKPOINTS })
  const row = rows.find(({ sample }) =>
    sample.some((file) => file.path === path || file.path.startsWith(`${path}/`)),
  )
  return row?.tool ?? null
}
