// The `file_edit` tool: changes part of a text file; refuses ambiguous and outdated edits.

import { z } from 'zod'
import { withoutNul } from '../../../protocol/envelope.ts'
import { TOOL_ALIASES } from '../../../protocol/tool-names/tool-aliases.ts'
import { editText, type TextEdit } from '../../../workspace/files/edit-text.ts'
import { parseInnerPath } from '../../../workspace/files/paths.ts'
import { decodeText, encodeText } from '../../../workspace/files/text.ts'
import type { Workspace } from '../../../workspace/workspace.ts'
import { defineTool, succeed, type ToolDefinition } from '../../definition.ts'
import {
  CHANGED_MEANWHILE_WARNING,
  type FileToolDependencies,
  originOf,
  pathKey,
  requireWorkspace,
} from './project-access.ts'

const EditInput = z
  .object({
    path: withoutNul(z.string().min(1).max(4096)).describe('The file.'),
    mode: z
      .enum(['exact', 'flexible', 'regex', 'lines'])
      .default('exact')
      .describe('How to find the text.'),
    old: z.string().optional().describe('Text to replace.'),
    new: z.string().describe('Replacement; in regex mode $1 is the first group.'),
    pattern: z
      .string()
      .max(2_000)
      .optional()
      .describe('JavaScript syntax; ^ and $ match at line breaks.'),
    start_line: z.int().min(1).optional().describe('First line to replace, from 1.'),
    end_line: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Last line, inclusive (default: start_line); start_line - 1 inserts before start_line.',
      ),
    replace_all: z.boolean().default(false).describe('Replace every match.'),
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

/** The edit as a `TextEdit`; the schema has checked that the fields its mode needs are present. */
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

/** The tool `file_edit`. */
export function createFileEditTool({ services, seen }: FileToolDependencies): ToolDefinition {
  /** Returns the file as the edit would leave it, without writing it. */
  const plan = async (workspace: Workspace, input: EditInput, signal: AbortSignal) => {
    const path = parseInnerPath(input.path).text
    const { bytes, state } = await workspace.read(path)
    const before = decodeText(bytes, path)
    const after = await editText(before.text, toEdit(input), services.pool, {
      owner: workspace.userId,
      signal,
    })
    return {
      path,
      version: state.version,
      bytes: encodeText(after.text, before.encoding, path),
      count: after.count,
      diff: await services.makeDiff(path, before.text, after.text),
    }
  }

  return defineTool({
    name: 'file_edit',
    aliases: TOOL_ALIASES.file_edit,
    description:
      'Replaces part of a project text file. Read the file first. Modes: exact (`old` verbatim), flexible (`old`, ignoring whitespace differences), regex (`pattern`), lines (`start_line` to `end_line`). Without replace_all the match must be unique. Fails without changes when ambiguous or when the file changed since you read it.',
    category: 'file',
    riskLevel: 'medium',
    changesProject: true,
    input: EditInput,
    orderKey: ({ path }) => pathKey(path),
    recall: seen.recall,
    async preview(input, context) {
      const workspace = await requireWorkspace(services, context)
      const { path, version, diff } = await plan(workspace, input, context.signal)
      const expected = seen.noteShown(context.runId, path, version)
      return {
        display: `Edit ${path} (+${diff.added} −${diff.removed})`,
        path,
        version: expected,
        ...(expected === version ? {} : CHANGED_MEANWHILE_WARNING),
        ...diff,
      }
    },
    handler: async (input, context) => {
      const workspace = await requireWorkspace(services, context)
      return services.checkpoints.change(
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
