// The file tools that change files: `file_write`, `file_mkdir`, `file_delete`. Each has a preview of its effect.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AppError, appError } from '../../../errors.ts'
import { type Encoding, UTF_8 } from '../../../lib/encodings.ts'
import { withoutNul } from '../../../protocol/envelope.ts'
import { TOOL_ALIASES } from '../../../protocol/tool-names/tool-aliases.ts'
import { walk } from '../../../workspace/files/entries.ts'
import { parseInnerPath } from '../../../workspace/files/paths.ts'
import { binaryKind, decodeText, encodeText } from '../../../workspace/files/text.ts'
import type { Workspace } from '../../../workspace/workspace.ts'
import { defineTool, succeed, type ToolDefinition } from '../../definition.ts'
import {
  CHANGED_MEANWHILE_WARNING,
  type FileToolDependencies,
  originOf,
  pathKey,
  requireWorkspace,
  workspaceForChange,
  workspaceForPreview,
} from './project-access.ts'

const PathInput = withoutNul(z.string().min(1).max(4096))
const MAX_PREVIEW_ENTRIES = 200

const WriteInput = z.object({
  path: PathInput.describe('Relative to the project folder; missing folders are created.'),
  content: z.string().describe('The full content, or the text to append.'),
  mode: z.enum(['write', 'append']).default('write').describe('"write" replaces the file.'),
})

/** A file's content before a change; `text` is null for a binary file. */
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

/** Says that a file in another encoding is in UTF-8 now, because whoever else uses it may expect the old one. */
const encodingNote = (before: Before | null, mode: 'write' | 'append'): { note?: string } =>
  mode === 'append' || before === null || before.text === null || before.encoding.name === 'utf-8'
    ? {}
    : { note: `The file was in ${before.encoding.name} and is in UTF-8 now.` }

type MakeDiff = FileToolDependencies['services']['makeDiff']

/** The tools `file_write`, `file_mkdir` and `file_delete`. */
export const createWritingFileTools = (dependencies: FileToolDependencies): ToolDefinition[] => [
  createFileWrite(dependencies),
  createFileMkdir(dependencies),
  createFileDelete(dependencies),
]

/** Returns the file as a write would leave it, without writing it. */
async function planWrite(
  workspace: Workspace,
  input: z.output<typeof WriteInput>,
  makeDiff: MakeDiff,
) {
  const path = parseInnerPath(input.path).text
  const before = await readBefore(workspace, path)
  if (input.mode === 'append' && before?.text === null)
    throw new AppError('binary_file', `“${path}” is a binary file; text cannot be appended to it.`)
  const appends = input.mode === 'append' && before !== null
  const text = appends ? (before.text ?? '') + input.content : input.content
  const bytes = encodeText(text, appends ? before.encoding : UTF_8, path)
  const diff =
    before !== null && before.text === null
      ? { diff: `Binary file a/${path} is replaced by text\n`, added: 0, removed: 0 }
      : await makeDiff(path, before?.text ?? null, text)
  return { path, before, bytes, diff }
}

function createFileWrite({ services, seen }: FileToolDependencies): ToolDefinition {
  const { checkpoints, makeDiff } = services
  return defineTool({
    name: 'file_write',
    aliases: TOOL_ALIASES.file_write,
    description:
      'Creates, replaces or appends to a project text file (UTF-8). To change part of an existing file use file_edit.',
    category: 'file',
    riskLevel: 'medium',
    changesProject: true,
    input: WriteInput,
    orderKey: ({ path }) => pathKey(path),
    recall: seen.recall,
    async preview(input, context) {
      const { path, before, diff } = await planWrite(
        await workspaceForPreview(services, context),
        input,
        makeDiff,
      )
      const version = before?.version ?? ''
      // An append stays valid whatever else was appended in the meantime.
      if (input.mode === 'append')
        return {
          display: `${before === null ? 'Create' : 'Append to'} ${path} (+${diff.added} −${diff.removed})`,
          path,
          ...diff,
        }
      const expected = seen.noteShown(context.runId, path, version)
      return {
        display: `${before === null ? 'Create' : 'Replace'} ${path} (+${diff.added} −${diff.removed})`,
        path,
        version: expected,
        ...(expected === version ? {} : CHANGED_MEANWHILE_WARNING),
        ...diff,
      }
    },
    handler: async (input, context) => {
      // A path that is refused makes no project.
      parseInnerPath(input.path)
      const workspace = await workspaceForChange(services, context)
      return checkpoints.change(
        workspace,
        originOf('file_write', context),
        [input.path],
        async () => {
          const { path, before, bytes, diff } = await planWrite(workspace, input, makeDiff)
          const version = before?.version ?? ''
          // The project is locked from reading to writing, so an append loses nothing and needs no version check.
          if (input.mode === 'write') seen.check(context.runId, path, version)
          const state = await workspace.write(path, bytes, { expected: version })
          if (input.mode === 'write') seen.note(context.runId, path, state.version)
          else seen.advance(context.runId, path, version, state.version)
          return succeed(
            {
              path,
              bytes: state.size,
              added: diff.added,
              removed: diff.removed,
              ...encodingNote(before, input.mode),
            },
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
}

function createFileMkdir({ services }: FileToolDependencies): ToolDefinition {
  const { checkpoints } = services
  return defineTool({
    name: 'file_mkdir',
    description:
      'Creates a project folder, including missing parent folders. file_write creates folders itself.',
    category: 'file',
    riskLevel: 'medium',
    changesProject: true,
    repeatable: true,
    input: z.object({ path: PathInput.describe('Relative to the project folder.') }),
    orderKey: ({ path }) => pathKey(path),
    preview: async ({ path }, context) => {
      await workspaceForPreview(services, context)
      const { text } = parseInnerPath(path)
      return {
        display: `Create the folder ${text}`,
        display_code: 'create_folder',
        display_params: { path: text },
      }
    },
    handler: async ({ path: input }, context) => {
      const path = parseInnerPath(input).text
      const workspace = await workspaceForChange(services, context)
      const created = await checkpoints.change(
        workspace,
        originOf('file_mkdir', context),
        [path],
        () => workspace.createFolder(path),
        context.signal,
      )
      return succeed(
        { path, created },
        { display: created ? `Created the folder ${path}` : `The folder ${path} already exists` },
      )
    },
  })
}

/** What a deletion removes: the text of a file, or the names in a folder. `fingerprint` changes if any of it changes. */
async function whatGoes(workspace: Workspace, input: string, makeDiff: MakeDiff) {
  const path = parseInnerPath(input).text
  const state = await workspace.state(path)
  if (state === null) throw appError('file_not_found', { path })
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
      fingerprint: state.version,
      diff: text === null ? null : await makeDiff(path, text, null),
    }
  }
  const inner: string[] = []
  const hash = createHash('sha256')
  let files = 0
  await walk(workspace.root, parseInnerPath(path), { maxEntries: 100_000 }, (entry) => {
    hash.update(`${entry.path}\0${entry.kind}\0${entry.size}\0${entry.changedAt}\0`)
    if (entry.kind !== 'directory') files++
    if (inner.length < MAX_PREVIEW_ENTRIES) inner.push(entry.path)
  })
  return { path, files, inner, diff: null, fingerprint: hash.digest('hex') }
}

function createFileDelete({ services, seen }: FileToolDependencies): ToolDefinition {
  const { checkpoints, makeDiff } = services
  return defineTool({
    name: 'file_delete',
    description:
      "Deletes a project file, or a folder with everything in it. The user can restore it from the project's history.",
    category: 'file',
    riskLevel: 'high',
    changesProject: true,
    input: z.object({ path: PathInput.describe('Relative to the project folder.') }),
    orderKey: ({ path }) => pathKey(path),
    recall: seen.recall,
    async preview({ path: input }, context) {
      const workspace = await requireWorkspace(services, context)
      const { path, files, inner, diff, fingerprint } = await whatGoes(workspace, input, makeDiff)
      seen.markOutdated(context.runId, path, fingerprint)
      return {
        display: `Delete ${path}${inner === null ? '' : ` with ${files} files in it`}`,
        display_code: inner === null ? 'delete_file' : 'delete_folder',
        display_params: { path, count: files },
        path,
        doomed: fingerprint,
        ...(inner === null ? {} : { entries: inner }),
        ...(diff === null ? {} : { ...diff }),
      }
    },
    handler: async (input, context) => {
      const workspace = await requireWorkspace(services, context)
      return checkpoints.change(
        workspace,
        originOf('file_delete', context),
        [input.path],
        async () => {
          const { path, files, diff, fingerprint } = await whatGoes(workspace, input.path, makeDiff)
          seen.assertNotOutdated(context.runId, path, fingerprint)
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
}
