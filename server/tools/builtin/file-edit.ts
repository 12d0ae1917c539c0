// The `file_edit` tool: changes a part of a text file; whatever could mean two places, or an older state, is refused.
import { z } from 'zod'
import { editText, type TextEdit } from '../../workspace/edit-text.ts'
import { parseInnerPath } from '../../workspace/paths.ts'
import { decodeText, encodeText } from '../../workspace/text.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { defineTool, succeed, type ToolDefinition } from '../definition.ts'
import {
  type FileToolDependencies,
  lateWarning,
  originOf,
  pathKey,
  requireWorkspace,
} from './project-access.ts'

const EditInput = z
  .object({
    path: z.string().min(1).max(4096).describe('File relative to the project folder.'),
    mode: z
      .enum(['exact', 'flexible', 'regex', 'lines'])
      .default('exact')
      .describe(
        'exact: "old" as it stands in the file. flexible: "old" with any whitespace. regex: "pattern". lines: "start_line" to "end_line".',
      ),
    old: z.string().optional().describe('Text to replace (exact, flexible).'),
    new: z
      .string()
      .describe('Text that takes its place; with regex $1 stands for the first group.'),
    pattern: z
      .string()
      .max(2_000)
      .optional()
      .describe('JavaScript regular expression (regex); ^ and $ match at lines.'),
    start_line: z.int().min(1).optional().describe('First line to replace, from 1 (lines).'),
    end_line: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Last line to replace, included; start_line - 1 inserts before start_line (lines).',
      ),
    replace_all: z
      .boolean()
      .default(false)
      .describe('Replace every match instead of the only one.'),
  })
  .superRefine((input, check) => {
    const missing = (field: string) =>
      check.addIssue({
        code: 'custom',
        path: [field],
        message: `mode "${input.mode}" needs "${field}"`,
      })
    if ((input.mode === 'exact' || input.mode === 'flexible') && input.old === undefined)
      missing('old')
    if (input.mode === 'regex' && input.pattern === undefined) missing('pattern')
    if (input.mode === 'lines' && input.start_line === undefined) missing('start_line')
  })
type EditInput = z.output<typeof EditInput>

/** The edit in its own words; the schema has made sure that what its mode needs is there. */
function toEdit(input: EditInput): TextEdit {
  const replaceAll = input.replace_all
  switch (input.mode) {
    case 'exact':
    case 'flexible':
      return { mode: input.mode, old: input.old ?? '', new: input.new, replaceAll }
    case 'regex':
      return { mode: 'regex', pattern: input.pattern ?? '', new: input.new, replaceAll }
    case 'lines': {
      const start = input.start_line ?? 1
      return { mode: 'lines', start, end: input.end_line ?? start, new: input.new }
    }
  }
}

export function createFileEditTool({ room, seen }: FileToolDependencies): ToolDefinition {
  /** What the edit would make of the file, without touching it. */
  const plan = async (workspace: Workspace, input: EditInput, signal: AbortSignal) => {
    const path = parseInnerPath(input.path).text
    const { bytes, state } = await workspace.read(path)
    const before = decodeText(bytes, path)
    const after = await editText(before.text, toEdit(input), room.pool, signal)
    return {
      path,
      version: state.version,
      bytes: encodeText(after.text, before.encoding, path),
      count: after.count,
      diff: await room.makeDiff(path, before.text, after.text),
    }
  }

  return defineTool({
    name: 'file_edit',
    aliases: ['edit_file'],
    description:
      'Changes a part of a text file: replaces text that occurs once (or everywhere with replace_all), matches of a pattern, or a range of lines. Read the file first. An ambiguous or outdated edit is refused and changes nothing.',
    category: 'file',
    riskLevel: 'medium',
    changesProject: true,
    input: EditInput,
    orderKey: ({ path }) => pathKey(path),
    recall: seen.recall,
    async preview(input, context) {
      const workspace = requireWorkspace(room, context)
      const { path, version, diff } = await plan(workspace, input, context.signal)
      const expected = seen.noteShown(context.runId, path, version)
      return {
        display: `Edit ${path} (+${diff.added} −${diff.removed})`,
        path,
        version: expected,
        ...(expected === version ? {} : lateWarning),
        ...diff,
      }
    },
    handler: (input, context) => {
      const workspace = requireWorkspace(room, context)
      return room.checkpoints.change(
        workspace,
        originOf('file_edit', context),
        [input.path],
        async () => {
          const known = await workspace.state(input.path)
          if (known !== null) seen.check(context.runId, input.path, known.version)
          const { path, version, bytes, count, diff } = await plan(workspace, input, context.signal)
          const state = await workspace.write(path, bytes, { expected: version })
          seen.note(context.runId, path, state.version)
          return succeed(
            {
              path,
              bytes: state.size,
              added: diff.added,
              removed: diff.removed,
              replacements: count,
            },
            {
              display: `Edited ${path} (+${diff.added} −${diff.removed})`,
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
