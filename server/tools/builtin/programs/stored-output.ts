// Keeps what a Python program wrote to /output among the conversation's files, where it can be opened, changed and undone.
import { webcrypto } from 'node:crypto'
import { posix } from 'node:path'
import { AppError, appError } from '../../../errors.ts'
import type { ProgramFile } from '../../../sandbox/python/program.ts'
import { parseInnerPath } from '../../../workspace/files/paths.ts'
import type { Workspace } from '../../../workspace/workspace.ts'
import type { WorkspaceServices } from '../../../workspace/workspace-services.ts'
import type { ToolContext } from '../../definition.ts'
import { originOf, workspaceForChange } from '../files/project-access.ts'

/** The folder of the project that holds what programs write. */
const FOLDER = 'output'
const TOOL = 'execute_python'
/** How many names are tried for a file, and how often all of them while others write files. */
const MAX_NAMES = 50
const MAX_ATTEMPTS = 3

/** Where the files of a program are: the paths by name, or why they are not stored. */
export type StoredOutput = { paths: ReadonlyMap<string, string> } | { error: string }

/**
 * Stores the files in one change of the project. An earlier file of the same name is replaced if a program wrote it and nobody
 * has changed it since; next to others, the new one gets a name of its own such as `chart (2).png`, because programs run without
 * asking anybody. A conversation without a project gets files of its own. Nothing is stored where the conversation's tools may
 * not write files.
 * @param isOutside whether the program read text from outside.
 */
export type StoreOutput = (
  files: readonly ProgramFile[],
  context: ToolContext,
  isOutside: boolean,
) => Promise<StoredOutput>

type OutputServices = Pick<WorkspaceServices, 'workspaces' | 'checkpoints' | 'records' | 'projects'>

/** For the `execute_python` tool. */
export const createOutputStore =
  (services: OutputServices): StoreOutput =>
  async (files, context, isOutside) => {
    const hasPlace = context.projectId !== null || context.ownFiles !== undefined
    const mayWrite = context.offered === undefined || context.offered.includes('file_write')
    if (files.length === 0 || !hasPlace || !mayWrite) return { paths: new Map() }
    try {
      const workspace = await workspaceForChange(services, context)
      for (let attempt = 1; ; attempt += 1) {
        const placed = await placesFor(files, workspace, services)
        try {
          await storeAt(placed, { workspace, services, context, isOutside })
          return { paths: new Map(placed.map(({ name, path }) => [name, path])) }
        } catch (error) {
          // Another call has written one of the files since.
          const isChanged = error instanceof AppError && error.code === 'file_changed'
          if (!isChanged || attempt === MAX_ATTEMPTS) throw error
        }
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { error: error.message }
    }
  }

/** Where a file of a program is stored. */
interface Place {
  /** The name that the program gave it. */
  name: string
  path: string
  content: Uint8Array
  /** The version that it replaces, '' for none; null if it is there already. */
  expected: string | null
}

async function storeAt(
  placed: readonly Place[],
  {
    workspace,
    services,
    context,
    isOutside,
  }: {
    workspace: Workspace
    services: OutputServices
    context: ToolContext
    isOutside: boolean
  },
): Promise<void> {
  const origin = originOf(TOOL, context)
  await services.checkpoints.change(
    workspace,
    { ...origin, outside: origin.outside === true || isOutside },
    placed.map(({ path }) => path),
    async () => {
      for (const { path, content, expected } of placed)
        if (expected !== null) await workspace.write(path, content, { expected })
    },
    context.signal,
  )
}

async function placesFor(
  files: readonly ProgramFile[],
  workspace: Workspace,
  services: OutputServices,
): Promise<Place[]> {
  const placed: Place[] = []
  // Names that only another file of the same program may have.
  const taken = new Set(files.map(({ path }) => parseInnerPath(`${FOLDER}/${path}`).text))
  for (const { path: name, content } of files) {
    const wanted = parseInnerPath(`${FOLDER}/${name}`).text
    let place: Place | undefined
    for (let number = 1; place === undefined; number += 1) {
      if (number > MAX_NAMES) throw appError('path_taken', { path: wanted })
      const path = number === 1 ? wanted : numbered(wanted, number)
      if (number > 1 && taken.has(path)) continue
      const expected = await replaceable(path, content, workspace, services)
      if (expected !== undefined) place = { name, path, content, expected }
    }
    taken.add(place.path)
    placed.push(place)
  }
  return placed
}

/** What `Place.expected` is at the path; undefined if something of others is there. */
async function replaceable(
  path: string,
  content: Uint8Array,
  workspace: Workspace,
  { records }: OutputServices,
): Promise<string | null | undefined> {
  const state = await workspace.state(path)
  if (state === null) return ''
  // No program writes more.
  if (state.kind !== 'file' || state.size > workspace.limits.fileWrite) return undefined
  const current = await workspace.read(path, workspace.limits.fileWrite)
  if (current.bytes.equals(content)) return null
  const hash = Buffer.from(await webcrypto.subtle.digest('SHA-256', current.bytes)).toString('hex')
  const isOwn = await records.isLeftBy(workspace.projectId, { tool: TOOL, path, hash })
  return isOwn ? current.state.version : undefined
}

/** `charts/a.png` becomes `charts/a (2).png`. */
function numbered(path: string, number: number): string {
  const { dir, name, ext } = posix.parse(path)
  return posix.join(dir, `${name} (${number})${ext}`)
}
