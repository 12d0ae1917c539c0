// The project file tools on a real project, a new one for each test.
import { beforeAll, beforeEach } from 'vitest'
import type { Database } from '../../../../server/db/database.ts'
import { readResultImage } from '../../../../server/files/images.ts'
import { newId } from '../../../../server/lib/ids.ts'
import type { MessageId, RunId } from '../../../../server/protocol/ids.ts'
import { type BubblewrapState, detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { createFileEditTool } from '../../../../server/tools/builtin/files/file-edit.ts'
import { createReadingFileTools } from '../../../../server/tools/builtin/files/files-read.ts'
import { createWritingFileTools } from '../../../../server/tools/builtin/files/files-write.ts'
import { createSeenFiles } from '../../../../server/tools/builtin/files/project-access.ts'
import { createExecTool } from '../../../../server/tools/builtin/programs/exec.ts'
import type {
  ParsedInput,
  ToolContext,
  ToolDefinition,
  ToolResult,
} from '../../../../server/tools/definition.ts'
import { createToolSet } from '../../../../server/tools/registry.ts'
import { createDiffs } from '../../../../server/workspace/checkpoints/diff/diffs.ts'
import {
  createProjectSearch,
  findRipgrep,
} from '../../../../server/workspace/search/project-search.ts'
import { useDatabases } from '../../../support/store/databases.ts'
import { openProject } from '../../../support/store/projects.ts'
import { noSkills, runChecked, toolContext } from '../support.ts'

type Project = Awaited<ReturnType<typeof openProject>>

export const bubblewrap = await detectBubblewrap()

/** The project and tools of the current test. */
export interface ProjectTools {
  readonly project: Project
  readonly context: ToolContext
  readonly tools: ReturnType<typeof createToolSet>
  tool(name: string): ToolDefinition
  /** The validated arguments of a call. @throws if the tool refuses the arguments. */
  parse(name: string, args: object): ParsedInput
  /** Runs a call. As in a run, refused arguments are a failed result. */
  run(name: string, args: object, over?: Partial<ToolContext>): Promise<ToolResult>
  /** The data of a successful call. @throws the error of a failed call. */
  data(name: string, args: object): Promise<Record<string, unknown>>
  /** The error of a failed call. @throws if the call succeeds. */
  error(name: string, args: object): Promise<string>
  put(path: string, text: string | Uint8Array): Promise<unknown>
  textOf(path: string): Promise<string>
  /** Restores a checkpoint, which undoes its change. */
  restore(id: string | undefined): Promise<unknown>
}

/** Creates a project on a shared SQLite database, and its tools, before each test. `isolation` is that of `exec`. */
export function useProjectTools(isolation: BubblewrapState = bubblewrap): ProjectTools {
  const { open } = useDatabases()
  let database: Database
  let project: Project
  let context: ToolContext
  let tools: ReturnType<typeof createToolSet>

  beforeAll(async () => {
    database = await open('sqlite')
  })
  beforeEach(async () => {
    project = await openProject(database)
    const services = {
      ...project,
      makeDiff: createDiffs(project.pool),
      search: createProjectSearch({
        ripgrep: findRipgrep(),
        bubblewrap,
        pool: project.pool,
        timeoutMs: 4_000,
        maxFileBytes: 5_000_000,
      }),
      close: async () => {},
    }
    const files = { services, seen: createSeenFiles() }
    tools = createToolSet([
      ...createReadingFileTools({
        ...files,
        prepareImage: readResultImage,
        isUnaccepted: async () => false,
      }),
      ...createWritingFileTools(files),
      createFileEditTool(files),
      createExecTool({
        services,
        skills: noSkills,
        bubblewrap: isolation,
        network: 'none',
        limits: { memoryBytes: 2e9, processes: 256 },
      }),
    ])
    context = toolContext({
      userId: project.userId,
      projectId: project.projectId,
      runId: newId<RunId>(),
      messageId: newId<MessageId>(),
    })
  })

  const tool = (name: string): ToolDefinition => {
    const found = tools.get(name)
    if (found === undefined) throw new Error(`no tool ${name}`)
    return found
  }
  const run = async (
    name: string,
    args: object,
    over: Partial<ToolContext> = {},
  ): Promise<ToolResult> => {
    const parsed = tool(name).parse(JSON.stringify(args))
    if (!parsed.ok) return { success: false, error: parsed.error }
    return runChecked(parsed.input, { ...context, ...over })
  }
  return {
    get project() {
      return project
    },
    get context() {
      return context
    },
    get tools() {
      return tools
    },
    tool,
    parse(name, args) {
      const parsed = tool(name).parse(JSON.stringify(args))
      if (!parsed.ok) throw new Error(parsed.error)
      return parsed.input
    },
    run,
    async data(name, args) {
      const result = await run(name, args)
      if (!result.success) throw new Error(result.error)
      // Every file tool returns an object.
      return result.data as Record<string, unknown>
    },
    async error(name, args) {
      const result = await run(name, args)
      if (result.success) throw new Error('it succeeded')
      return result.error
    },
    put: (path, text) => project.workspace.write(path, Buffer.from(text)),
    textOf: async (path) => (await project.workspace.read(path)).bytes.toString(),
    restore: (id) =>
      project.checkpoints.restore(project.workspace, id, {
        tool: 'restore',
        messageId: null,
        runId: null,
      }),
  }
}
