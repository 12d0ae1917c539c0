// The files of projects, as looks and checks of schedules read them.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import { AppError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { compileGlob } from '../workspace/files/glob.ts'
import { openProject } from '../workspace/open-project.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'

// What watched files say, as one text that changes exactly when one of them does: hashes of all, and the text of small ones.

/** The text of larger files is not compared line by line. */
const MAX_TEXT_BYTES = 32 * 1024
/** The text of so much is compared in one look. */
const MAX_TEXTS = 300_000
/** Characters of the list of files. */
const MAX_LIST = 150_000
/** Bytes that one look reads; what is beyond is known by its size and its last change. */
const MAX_READ_BYTES = 512 * 1024 * 1024

/** Hashes by version, so that a look reads only what was written since. */
const hashes = new LRUCache<string, string>({ max: 20_000 })

/** @param paths in the order in which they are described. @throws if `signal` ended it. */
async function describeFiles(
  workspace: Pick<Workspace, 'state' | 'download'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const lines: string[] = []
  const texts: string[] = []
  let read = 0
  let shown = 0
  for (const path of paths) {
    signal.throwIfAborted()
    const state = await workspace.state(path)
    if (state?.kind !== 'file') continue
    const { size, version } = state
    const isShown = size <= MAX_TEXT_BYTES && shown + size <= MAX_TEXTS
    let hash = hashes.get(version)
    if ((hash === undefined && read + size <= MAX_READ_BYTES) || isShown) {
      const found = await readFile(workspace, path, isShown, signal)
      // Removed meanwhile.
      if (found === null) continue
      read += size
      hash = found.hash
      hashes.set(version, hash)
      if (found.text !== null) {
        shown += size
        texts.push(`--- ${path}\n${found.text}`)
      }
    }
    lines.push(`${path} ${size} ${hash ?? version}`)
  }
  return [...shortened(lines), ...texts].join('\n')
}

/** Lines beyond what is compared are one line, which changes when any of them does. */
function shortened(lines: readonly string[]): string[] {
  let length = 0
  const listed = lines.findIndex((line) => {
    length += line.length + 1
    return length > MAX_LIST
  })
  if (listed === -1) return [...lines]
  const rest = createHash('sha256')
  for (const line of lines.slice(listed)) rest.update(`${line}\n`)
  return [...lines.slice(0, listed), `${lines.length - listed} more files ${rest.digest('hex')}`]
}

async function readFile(
  workspace: Pick<Workspace, 'download'>,
  path: string,
  withText: boolean,
  signal: AbortSignal,
): Promise<{ hash: string; text: string | null } | null> {
  try {
    const { stream } = await workspace.download(path)
    const hash = createHash('sha256')
    if (withText) {
      const bytes = await buffer(stream)
      const text = isUtf8(bytes) ? bytes.toString('utf8') : null
      return { hash: hash.update(bytes).digest('hex'), text }
    }
    for await (const chunk of stream) {
      signal.throwIfAborted()
      hash.update(chunk)
    }
    return { hash: hash.digest('hex'), text: null }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

const MAX_FILES = 10_000

/** The files of projects, as looks and checks read them. */
export function projectFiles(
  services: Pick<WorkspaceServices, 'workspaces' | 'records' | 'projects'>,
) {
  async function open(userId: UserId, projectId: ProjectId) {
    await services.records.assertProject(projectId)
    return (await openProject(services, userId, projectId, 'read')).workspace
  }
  async function findFiles(userId: UserId, projectId: ProjectId, glob: string): Promise<string[]> {
    const workspace = await open(userId, projectId)
    const matches = compileGlob(glob)
    const found: string[] = []
    const folders = ['']
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
      for (const entry of await workspace.list(folder)) {
        if (entry.kind === 'directory') folders.push(entry.path)
        else if (entry.kind === 'file' && matches(entry.path)) found.push(entry.path)
        if (found.length >= MAX_FILES) return found.sort()
      }
    return found.sort()
  }
  return {
    findFiles,
    async readFile(userId: UserId, projectId: ProjectId, path: string): Promise<string | null> {
      const workspace = await open(userId, projectId)
      if ((await workspace.state(path)) === null) return null
      return (await workspace.read(path)).bytes.toString('utf8')
    },
    async readFiles(
      userId: UserId,
      projectId: ProjectId,
      glob: string,
      signal: AbortSignal,
    ): Promise<string> {
      const workspace = await open(userId, projectId)
      return await describeFiles(workspace, await findFiles(userId, projectId, glob), signal)
    },
  }
}
