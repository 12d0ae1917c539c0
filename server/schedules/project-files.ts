// The files of projects, as looks and checks of schedules read them.
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { compileGlob } from '../workspace/files/glob.ts'
import { openProject } from '../workspace/open-project.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import { describeFiles } from './watched-files.ts'

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
