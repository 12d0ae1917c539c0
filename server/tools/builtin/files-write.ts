// The file tools that change: `file_write`, `file_mkdir`, `file_delete`. Each shows beforehand what it would do.
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { parseInnerPath } from '../../workspace/paths.ts'
import { binaryKind, decodeText, type Encoding, encodeText, UTF_8 } from '../../workspace/text.ts'
import { walk } from '../../workspace/walk.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { defineTool, succeed, type ToolDefinition } from '../definition.ts'
import {
  type FileToolDependencies,
  lateWarning,
  originOf,
  pathKey,
  requireWorkspace,
} from './project-access.ts'

const PathInput = z.string().min(1).max(4096)
const MAX_PREVIEW_ENTRIES = 200

const WriteInput = z.object({
  path: PathInput.describe('Path relative to the project folder; missing folders are made.'),
  content: z
    .string()
    .describe('The whole new content, or what is put at the end with mode "append".'),
  mode: z.enum(['write', 'append']).default('write').describe('"write" replaces the file.'),
})

/** A file's text before a change; null text for a binary file, null for none. */
interface Before {
  text: string | null
  encoding: Encoding
  version: string
}

async function readBefore(workspace: Workspace, path: string): Promise<Before | null> {
  try {
    const { bytes, state } = await workspace.read(path, workspace.limits.fileWrite)
    if (binaryKind(bytes) !== null) return { text: null, encoding: UTF_8, version: state.version }
    return { ...decodeText(bytes, path), version: state.version }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

export function createWritingFileTools({ room, seen }: FileToolDependencies): ToolDefinition[] {
  const { checkpoints, makeDiff } = room

  /** What a write would make of the file, without touching it. */
  const plan = async (workspace: Workspace, input: z.output<typeof WriteInput>) => {
    const path = parseInnerPath(input.path).text
    const before = await readBefore(workspace, path)
    if (input.mode === 'append' && before?.text === null)
      throw new AppError(
        'binary_file',
        `"${path}" is a binary file; text cannot be put at its end.`,
      )
    const appends = input.mode === 'append' && before !== null
    const text = appends ? (before.text ?? '') + input.content : input.content
    const bytes = encodeText(text, appends ? before.encoding : UTF_8, path)
    const diff =
      before !== null && before.text === null
        ? { diff: `Binary file a/${path} is replaced by text\n`, added: 0, removed: 0 }
        : await makeDiff(path, before?.text ?? null, text)
    return { path, before, bytes, diff }
  }

  const fileWrite = defineTool({
    name: 'file_write',
    aliases: ['write_file'],
    description:
      'Writes a text file of the project (UTF-8), making it and its folders where they are missing. Mode "write" replaces the whole file; to change a part of an existing file use file_edit.',
    category: 'file',
    riskLevel: 'medium',
    changesProject: true,
    input: WriteInput,
    orderKey: ({ path }) => pathKey(path),
    recall: seen.recall,
    async preview(input, context) {
      const { path, before, diff } = await plan(requireWorkspace(room, context), input)
      const version = before?.version ?? ''
      const expected = seen.noteShown(context.runId, path, version)
      return {
        display: `${before === null ? 'Create' : input.mode === 'append' ? 'Append to' : 'Replace'} ${path} (+${diff.added} −${diff.removed})`,
        path,
        version: expected,
        ...(expected === version ? {} : lateWarning),
        ...diff,
      }
    },
    handler: (input, context) => {
      const workspace = requireWorkspace(room, context)
      return checkpoints.change(
        workspace,
        originOf('file_write', context),
        [input.path],
        async () => {
          const { path, before, bytes, diff } = await plan(workspace, input)
          const version = before?.version ?? ''
          seen.check(context.runId, path, version)
          const state = await workspace.write(path, bytes, { expected: version })
          seen.note(context.runId, path, state.version)
          return succeed(
            { path, bytes: state.size, added: diff.added, removed: diff.removed },
            {
              display: `${before === null ? 'Created' : 'Wrote'} ${path} (+${diff.added} −${diff.removed})`,
              kind: 'file_change',
              path,
              version: state.version,
              ...diff,
            },
          )
        },
        context.signal,
      )
    },
  })

  const fileMkdir = defineTool({
    name: 'file_mkdir',
    description: 'Makes a folder in the project, with the folders above it where they are missing.',
    category: 'file',
    riskLevel: 'medium',
    changesProject: true,
    repeatable: true,
    input: z.object({ path: PathInput.describe('Folder relative to the project folder.') }),
    orderKey: ({ path }) => pathKey(path),
    preview: async ({ path }) => ({ display: `Make the folder ${parseInnerPath(path).text}` }),
    handler: async ({ path: input }, context) => {
      const workspace = requireWorkspace(room, context)
      const path = parseInnerPath(input).text
      const created = await checkpoints.change(
        workspace,
        originOf('file_mkdir', context),
        [path],
        () => workspace.makeFolder(path),
        context.signal,
      )
      return succeed(
        { path, created },
        { display: created ? `Made the folder ${path}` : `The folder ${path} was there already` },
      )
    },
  })

  const fileDelete = defineTool({
    name: 'file_delete',
    description:
      'Deletes a file of the project, or a folder with everything in it. The user can restore it from the history of the project.',
    category: 'file',
    riskLevel: 'high',
    changesProject: true,
    input: z.object({ path: PathInput.describe('File or folder relative to the project folder.') }),
    orderKey: ({ path }) => pathKey(path),
    recall: seen.recall,
    async preview({ path: input }, context) {
      const workspace = requireWorkspace(room, context)
      const { path, files, inner, diff } = await whatGoes(workspace, input)
      return {
        display: `Delete ${path}${inner === null ? '' : ` with ${files} files in it`}`,
        path,
        ...(inner === null ? {} : { entries: inner }),
        ...(diff === null ? {} : { ...diff }),
      }
    },
    handler: (input, context) => {
      const workspace = requireWorkspace(room, context)
      return checkpoints.change(
        workspace,
        originOf('file_delete', context),
        [input.path],
        async () => {
          const { path, files, diff } = await whatGoes(workspace, input.path)
          await workspace.remove(path)
          seen.note(context.runId, path, '')
          return succeed(
            { path, deleted: true, files },
            {
              display: `Deleted ${path}${files > 1 ? ` (${files} files)` : ''}`,
              kind: 'file_change',
              path,
              version: '',
              ...(diff === null ? {} : { ...diff }),
            },
          )
        },
        context.signal,
      )
    },
  })

  /** What a deletion takes along: the text of a file, or the names in a folder. */
  const whatGoes = async (workspace: Workspace, input: string) => {
    const path = parseInnerPath(input).text
    const state = await workspace.state(path)
    if (state === null) throw new AppError('not_found', `There is no file or folder "${path}".`)
    if (state.kind !== 'directory') {
      const before =
        state.kind === 'file' && state.size <= workspace.limits.fileRead
          ? await readBefore(workspace, path)
          : null
      const text = before?.text ?? null
      return {
        path,
        files: 1,
        inner: null,
        diff: text === null ? null : await makeDiff(path, text, null),
      }
    }
    const inner: string[] = []
    let files = 0
    await walk(workspace.root, parseInnerPath(path), { maxEntries: 100_000 }, (entry) => {
      if (entry.kind !== 'directory') files++
      if (inner.length < MAX_PREVIEW_ENTRIES) inner.push(entry.path)
    })
    return { path, files, inner, diff: null }
  }

  return [fileWrite, fileMkdir, fileDelete]
}
