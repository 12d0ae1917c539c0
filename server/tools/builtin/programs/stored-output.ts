// Keeps what a Python program wrote to /output among the conversation's files, where it can be opened, changed and undone.
import { AppError } from '../../../errors.ts'
import type { ProgramFile } from '../../../sandbox/python/program.ts'
import { parseInnerPath } from '../../../workspace/files/paths.ts'
import type { WorkspaceServices } from '../../../workspace/workspace-services.ts'
import type { ToolContext } from '../../definition.ts'
import { originOf, workspaceForChange } from '../files/project-access.ts'

/** The folder of the project that holds what programs write. */
const FOLDER = 'output'

/** Where the files of a program are: the paths by name, or why they are not stored. */
export type StoredOutput = { paths: ReadonlyMap<string, string> } | { error: string }

/**
 * Stores the files in one change of the project, replacing earlier ones of the same names. A conversation without a project gets
 * files of its own. Nothing is stored where the conversation's tools may not write files.
 * @param isOutside whether the program read text from outside.
 */
export type StoreOutput = (
  files: readonly ProgramFile[],
  context: ToolContext,
  isOutside: boolean,
) => Promise<StoredOutput>

/** For the `execute_python` tool. */
export const createOutputStore =
  (services: WorkspaceServices): StoreOutput =>
  async (files, context, isOutside) => {
    const hasPlace = context.projectId !== null || context.ownFiles !== undefined
    const mayWrite = context.offered === undefined || context.offered.includes('file_write')
    if (files.length === 0 || !hasPlace || !mayWrite) return { paths: new Map() }
    try {
      const named = files.map(({ path, content }) => ({
        name: path,
        path: parseInnerPath(`${FOLDER}/${path}`).text,
        content,
      }))
      const workspace = await workspaceForChange(services, context)
      const origin = originOf('execute_python', context)
      await services.checkpoints.change(
        workspace,
        { ...origin, outside: origin.outside === true || isOutside },
        named.map(({ path }) => path),
        async () => {
          for (const { path, content } of named) await workspace.write(path, content)
        },
        context.signal,
      )
      return { paths: new Map(named.map(({ name, path }) => [name, path])) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { error: error.message }
    }
  }
