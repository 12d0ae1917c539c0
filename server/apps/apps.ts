// Apps: files of projects that run in a frame of another origin, each under an address that only its user knows.
import type { Database } from '../db/database.ts'
import type { AppRow } from '../db/repositories/projects/apps.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import { hashLinkToken, newLinkToken } from '../lib/link-token.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { appKindOf } from '../protocol/app-kind.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { OpenAppBody } from '../protocol/projects/app.ts'
import { captureOne } from '../workspace/checkpoints/capture/capture.ts'
import type { Checkpoints } from '../workspace/checkpoints/checkpoints.ts'
import { walk } from '../workspace/files/entries.ts'
import { parseInnerPath, parsePath } from '../workspace/files/paths.ts'
import { openProject } from '../workspace/open-project.ts'
import { hashInPieces } from '../workspace/outside-text.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

/** How long an address works. */
const LIFETIME_MS = 60 * 60_000
/** Files of an app that are looked at for text from outside; of more, all are taken for it. */
const MAX_CHECKED_FILES = 500
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/** An address as its user receives it. */
export interface OpenedApp {
  row: AppRow
  /** Shown once: only its hash is stored. */
  token: string
  network: boolean
  tainted: boolean
}

/** A file that an app loads. */
export interface AppFile {
  bytes: Buffer
  /** Whether it is the file of the app itself, not one beside it. */
  isMain: boolean
  /** Whether a document of these bytes may use the network. */
  network: boolean
}

/** Opens apps, and serves their files. */
export type Apps = ReturnType<typeof createApps>

/** Says for whom there are apps. */
export interface AppAccess {
  allowsFeature(userId: UserId, feature: 'apps'): boolean
}

interface Dependencies {
  database: Database
  store: Pick<Store, 'apps' | 'projects' | 'outsideContents' | 'checkpoints' | 'audit'>
  workspaces: Workspaces
  checkpoints: Pick<Checkpoints, 'contentStore' | 'outsideText'>
  access: AppAccess
  now(): Date
}

/** Create one per server. */
export function createApps(dependencies: Dependencies) {
  const parts = appParts(dependencies)
  return {
    ...openApps(dependencies, parts),
    ...filesOfApps(dependencies, parts),
  }
}

/** Who may use apps, and the project of one. */
function appParts(dependencies: Dependencies) {
  const { store, workspaces, access } = dependencies

  /** Whether there are apps for the user. */
  const isAllowed = (userId: UserId): boolean => access.allowsFeature(userId, 'apps')

  /** @throws AppError `apps_off`. */
  const assertAllowed = (userId: UserId): void => {
    if (!isAllowed(userId)) throw appError('apps_off')
  }

  const workspaceOf = async (userId: UserId, projectId: ProjectId): Promise<Workspace> =>
    (await openProject({ projects: store.projects, workspaces }, userId, projectId, 'read'))
      .workspace

  return { isAllowed, assertAllowed, workspaceOf }
}

type AppParts = ReturnType<typeof appParts>

/** Apps that a person opens. */
function openApps(dependencies: Dependencies, { isAllowed, assertAllowed, workspaceOf }: AppParts) {
  const { database, store, now } = dependencies

  const described = async (
    row: AppRow,
    workspace: Workspace,
  ): Promise<Pick<OpenedApp, 'network' | 'tainted'>> => {
    const outside = await outsideFiles(dependencies, workspace, row.path)
    const tainted =
      outside === 'unknown' ||
      outside.length > 0 ||
      // The content before a change is in no file any more.
      (row.checkpointId !== null &&
        (await dependencies.checkpoints.outsideText.isIn(workspace, [
          await earlierContent(dependencies, row, workspace),
        ])))
    return { tainted, network: await mayUseNetwork(dependencies, row, outside) }
  }

  return {
    isAllowed,
    assertAllowed,

    /**
     * Makes an address for a file.
     * @throws AppError `project_not_found`, `app_kind_unknown`, `file_not_found`, `checkpoint_not_found` and the refusals of
     * paths.
     */
    async open(
      userId: UserId,
      { project_id: projectId, path: given, checkpoint_id: checkpointId }: OpenAppBody,
      from: Pick<AppRow, 'sessionId' | 'apiKeyId' | 'pageOrigin' | 'appsOrigin'>,
    ): Promise<OpenedApp> {
      assertAllowed(userId)
      const workspace = await workspaceOf(userId, projectId)
      const path = parseInnerPath(given)
      const kind = appKindOf(path.text)
      if (kind === null) throw appError('app_kind_unknown', { path: path.text })
      if (path.segments.some((name) => name.startsWith('.'))) throw appError('app_hidden')
      const at = now()
      const token = newLinkToken()
      const row: AppRow = {
        id: newId<string>(),
        userId,
        tokenHash: hashLinkToken(token),
        ...from,
        projectId,
        path: path.text,
        checkpointId: checkpointId ?? null,
        kind,
        createdAt: at,
        expiresAt: new Date(at.getTime() + LIFETIME_MS),
      }
      await mainState(dependencies, row, workspace)
      const description = await described(row, workspace)
      await store.apps.add(row)
      return { row, token, ...description }
    },

    /**
     * Permits an app the network, or ends the permission, and with it the app's addresses.
     * @throws AppError `app_not_found`, `app_earlier`, `app_too_large`.
     */
    async setNetwork(
      userId: UserId,
      id: string,
      network: boolean,
      actor: Actor,
    ): Promise<Omit<OpenedApp, 'token'>> {
      assertAllowed(userId)
      const row = await store.apps.find(userId, id)
      if (row === undefined || row.expiresAt <= now()) throw appError('app_not_found')
      if (network && row.checkpointId !== null) throw appError('app_earlier')
      const workspace = await workspaceOf(userId, row.projectId)
      const outside = await outsideFiles(dependencies, workspace, row.path)
      if (network && outside === 'unknown') throw appError('app_too_large')
      const at = now()
      await database.write(async (tx) => {
        if (!network) {
          if (await store.apps.removeNetwork(tx, row))
            await store.audit.record(tx, actor, networkEntry('app_network_ended', row, at))
          return
        }
        const ended = await store.apps.allowNetwork(tx, {
          userId,
          projectId: row.projectId,
          path: row.path,
          outside: outside === 'unknown' ? [] : [...outside],
          allowedAt: at,
        })
        await store.audit.record(tx, actor, networkEntry('app_network_allowed', row, at))
        for (const one of ended)
          await store.audit.record(tx, actor, networkEntry('app_network_ended', one, at))
      })
      return { row, ...(await described(row, workspace)) }
    },
  }
}

/** What an open app loads. */
function filesOfApps(dependencies: Dependencies, { assertAllowed, workspaceOf }: AppParts) {
  const { store, now } = dependencies
  return {
    /** The app of an address; null if the address is unknown, has expired or ended. */
    async find(token: string): Promise<{ row: AppRow; workspace: Workspace } | null> {
      const row = await store.apps.byToken(hashLinkToken(token), now())
      if (row === undefined) return null
      try {
        assertAllowed(row.userId)
        return { row, workspace: await workspaceOf(row.userId, row.projectId) }
      } catch (error) {
        if (error instanceof AppError && error.status < 500) return null
        throw error
      }
    },

    /**
     * A file that the app may load: its own, and those of its folder and below; null for others. A file with text from outside
     * that was not there when the app was permitted the network ends the permission and the address.
     * @param isForFrame whether a frame loads it, and not a document that is already there.
     */
    async read(
      { row, workspace }: { row: AppRow; workspace: Workspace },
      given: string,
      isForFrame: boolean,
    ): Promise<AppFile | null> {
      try {
        const path = parseInnerPath(given)
        if (!isReachable(row.path, path.segments)) return null
        const isMain = path.text === row.path
        const bytes =
          isMain && row.checkpointId !== null
            ? await earlierContent(dependencies, row, workspace)
            : (await workspace.read(path.text)).bytes
        const isDocument = isForFrame && (isMain || appKindOf(path.text) === 'html')
        const network = await networkOf(dependencies, { row, workspace }, { bytes, isDocument })
        if (network === 'ended' || (network === 'unknown' && !isDocument)) return null
        return { bytes, isMain, network: network === 'allowed' }
      } catch (error) {
        if (error instanceof AppError && error.status < 500) return null
        throw error
      }
    },
  }
}

/** Nothing outside the folder of the app, and nothing whose name begins with a dot. */
function isReachable(main: string, segments: readonly string[]): boolean {
  if (segments.some((name) => name.startsWith('.'))) return false
  const folder = main.split('/').slice(0, -1)
  return folder.every((name, index) => segments[index] === name) && segments.length > folder.length
}

/** @throws AppError unless the file of the app is there. */
async function mainState(
  dependencies: Dependencies,
  row: AppRow,
  workspace: Workspace,
): Promise<void> {
  if (row.checkpointId !== null) {
    await earlierContent(dependencies, row, workspace)
    return
  }
  const state = await workspace.state(row.path)
  if (state?.kind !== 'file') throw appError('file_not_found', { path: row.path })
}

/** The content of the file before a change. @throws AppError `checkpoint_not_found`, `content_expired`. */
async function earlierContent(
  { store, checkpoints }: Dependencies,
  { projectId, path, checkpointId }: AppRow,
  { limits }: Workspace,
): Promise<Buffer> {
  const found = await store.checkpoints.find(projectId, checkpointId ?? '')
  if (found === undefined) throw appError('checkpoint_not_found')
  for await (const files of store.checkpoints.pages(found.id)) {
    const file = files.find((one) => one.path === path)
    if (file === undefined) continue
    if (file.before?.kind !== 'file') throw appError('file_not_found', { path })
    const bytes = await checkpoints.contentStore(projectId).read(file.before.hash, limits.fileRead)
    if (bytes === null) throw appError('content_expired', { path })
    return bytes
  }
  throw appError('checkpoint_not_found')
}

/** The hashes of the app's files that have text from outside; `unknown` if there are too many files to look at. */
async function outsideFiles(
  { store, checkpoints }: Dependencies,
  workspace: Workspace,
  path: string,
): Promise<readonly string[] | 'unknown'> {
  const { projectId, root } = workspace
  if (await checkpoints.outsideText.isChangeOpen(workspace)) return 'unknown'
  if (!(await store.outsideContents.hasAny(projectId))) return []
  const folder = parsePath(path.split('/').slice(0, -1).join('/'))
  const paths: string[] = []
  let bytes = 0
  const isHidden = ({ name }: { name: string }): boolean => name.startsWith('.')
  const { complete } = await walk(
    root,
    folder,
    { maxEntries: 4 * MAX_CHECKED_FILES, skip: isHidden },
    (entry) => {
      if (entry.kind !== 'file' || isHidden(entry)) return
      paths.push(entry.path)
      bytes += entry.size
    },
  )
  if (!complete || paths.length > MAX_CHECKED_FILES || bytes > MAX_CHECKED_BYTES) return 'unknown'
  const hashes: string[] = []
  for (const one of paths) {
    const content = await captureOne(root, parsePath(one), null)
    // All empty files have one hash, and no text.
    if (content?.kind === 'file' && content.size > 0) hashes.push(content.hash)
  }
  // One that began meanwhile may have written what was read.
  if (await checkpoints.outsideText.isChangeOpen(workspace)) return 'unknown'
  return [...(await store.outsideContents.marked(projectId, hashes))].sort()
}

/** Whether the user's permission still holds. A file with new text from outside ends it. */
async function mayUseNetwork(
  dependencies: Dependencies,
  row: AppRow,
  outside: readonly string[] | 'unknown',
): Promise<boolean> {
  // What an earlier version would send was not looked at.
  if (row.checkpointId !== null) return false
  const permission = await dependencies.store.apps.findNetwork(row)
  if (permission === undefined || outside === 'unknown') return false
  const known = new Set(permission.outside)
  if (outside.every((hash) => known.has(hash))) return true
  await endForText(dependencies, row)
  return false
}

/** Ends a permission because of text from outside. The entry names the server: its user did nothing. */
async function endForText({ database, store, now }: Dependencies, row: AppRow): Promise<void> {
  await database.write(async (tx) => {
    // Of several readers of such files, one ends it.
    if (!(await store.apps.removeNetwork(tx, row))) return
    const actor: Actor = {
      userId: row.userId,
      username: null,
      address: null,
      details: { by: 'server' },
    }
    await store.audit.record(tx, actor, networkEntry('app_network_ended', row, now()))
  })
}

const networkEntry = (
  action: 'app_network_allowed' | 'app_network_ended',
  { projectId, path }: Pick<AppRow, 'projectId' | 'path'>,
  at: Date,
) => ({ action, at, details: { project_id: projectId, path } })

/**
 * The same when one of the files is loaded, after its bytes were read. `ended`: nothing of the app is served any more.
 * `unknown`: the files cannot be looked at now, so documents come without the network, and nothing comes that a document with
 * it could read.
 */
async function networkOf(
  dependencies: Dependencies,
  { row, workspace }: { row: AppRow; workspace: Workspace },
  { bytes, isDocument }: { bytes: Buffer; isDocument: boolean },
): Promise<'none' | 'allowed' | 'ended' | 'unknown'> {
  const { store, checkpoints } = dependencies
  const found = await store.apps.networkOfAddress(row.id)
  // Another file may have ended it since the address was found.
  if (found === undefined) return 'ended'
  if (found.outside === null || row.checkpointId !== null) return 'none'
  const hash = await hashInPieces(bytes)
  if (!found.outside.includes(hash)) {
    // In this order: a change is closed only after its marks are stored.
    if (await checkpoints.outsideText.isChangeOpen(workspace)) return 'unknown'
    const isMarked = (await store.outsideContents.marked(row.projectId, [hash])).size > 0
    if (isMarked && bytes.length > 0) {
      await endForText(dependencies, row)
      return 'ended'
    }
  }
  if (!isDocument) return 'allowed'
  // A document with the network can send what it loads: all of it is looked at before.
  const outside = await outsideFiles(dependencies, workspace, row.path)
  if (outside === 'unknown') return 'unknown'
  return (await mayUseNetwork(dependencies, row, outside)) ? 'allowed' : 'ended'
}
