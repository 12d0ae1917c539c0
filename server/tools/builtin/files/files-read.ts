// The read-only file tools: `file_read`, `file_list`, `file_exists`, `file_glob`, `file_grep`.

import { z } from 'zod'
import { AppError } from '../../../errors.ts'
import { withoutNul } from '../../../protocol/envelope.ts'
import { TOOL_ALIASES } from '../../../protocol/tool-names/tool-aliases.ts'
import { compileGlob } from '../../../workspace/files/glob.ts'
import { parsePath } from '../../../workspace/files/paths.ts'
import { decodeText } from '../../../workspace/files/text.ts'
import type { Workspace } from '../../../workspace/workspace.ts'
import {
  defineTool,
  fail,
  markUntrusted,
  succeed,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'
import {
  imageOfResult,
  MAX_RESULT_IMAGE_BYTES,
  type PreparedImage,
  type PrepareImage,
} from '../../result-image.ts'
import {
  createDocumentReader,
  isDocument,
  isReadByChild,
  pagesOf,
} from './files-read/document-text.ts'
import { type FileToolDependencies, requireWorkspace } from './project-access.ts'

/** Limits of one read; the result says how to continue. */
const MAX_LINES = 2_000
const MAX_CHARACTERS = 40_000
const MAX_LISTED = 1_000
/** Larger documents and pictures are not read; the limit for texts is configured. */
const MAX_BINARY_BYTES = 50_000_000

const PathInput = withoutNul(z.string().min(1).max(4096))
const FILE_PATH = 'Relative to the project folder, e.g. "src/main.py".'
const folderPath = PathInput.default('.').describe('Relative to the project folder.')

const ReadInput = z.object({
  path: PathInput.describe(FILE_PATH),
  encoding: z
    .string()
    .max(40)
    .optional()
    .describe('Only if the file is not UTF-8, e.g. "gb18030".'),
  start_line: z.int().min(1).optional().describe('First line, from 1.'),
  end_line: z.int().min(1).optional().describe('Last line, inclusive.'),
  page: z.int().min(1).optional().describe('Only this page, slide or sheet of a document.'),
  last_page: z.int().min(1).optional().describe('Several pages: up to this one.'),
  line_numbers: z.boolean().default(false).describe('Prefix lines with their number.'),
})

/** What reading tools need. */
export type ReadingDependencies = FileToolDependencies & {
  prepareImage: PrepareImage
  /** Whether the file is written for models, and its user has not accepted this version. */
  isUnaccepted(
    workspace: Workspace,
    path: string,
    read: () => Promise<Uint8Array>,
  ): Promise<boolean>
}

/** The tools `file_read`, `file_list`, `file_exists`, `file_glob` and `file_grep`. */
export const createReadingFileTools = (dependencies: ReadingDependencies): ToolDefinition[] => [
  createFileRead(dependencies),
  createFileList(dependencies),
  createFileExists(dependencies),
  createFileGlob(dependencies),
  createFileGrep(dependencies),
]

function createFileRead({
  services,
  seen,
  prepareImage,
  isUnaccepted,
}: ReadingDependencies): ToolDefinition {
  const { outsideText } = services.checkpoints
  const readDocument = createDocumentReader()
  return defineTool({
    name: 'file_read',
    aliases: TOOL_ALIASES.file_read,
    description:
      'Reads a project text file, or the text of a PDF, Word, Excel or PowerPoint file, or a range of its lines or pages. When "truncated" is true, "note" gives the start_line to continue with. Shows you a picture, if you accept images. Cannot read other binary files.',
    category: 'file',
    riskLevel: 'low',
    namesAddresses: true,
    cacheable: true,
    recall: seen.recall,
    input: ReadInput,
    async handler(
      { path, encoding: asked, start_line, end_line, page, last_page, line_numbers },
      context,
    ) {
      if (start_line !== undefined && end_line !== undefined && end_line < start_line)
        return fail(`end_line (${end_line}) is before start_line (${start_line}).`)
      const workspace = await requireWorkspace(services, context)
      const { fileRead } = workspace.limits
      const { bytes, state } = await workspace.read(
        path,
        isReadByChild(path) ? Math.max(fileRead, MAX_BINARY_BYTES) : fileRead,
      )
      const picture = asked === undefined ? await prepareImage(bytes, context.userId) : null
      if (picture !== null) {
        seen.note(context.runId, path, state.version)
        const result = pictureResult(parsePath(path).text, bytes.length, state.version, picture)
        return markUntrusted(result, await outsideText.isIn(workspace, [bytes]))
      }
      const document =
        asked === undefined && isDocument(path, bytes)
          ? await readDocument(
              { root: workspace.root, path, version: state.version, bytes },
              context.userId,
              context.signal,
            )
          : null
      if (typeof document === 'string') return fail(`"${path}" cannot be read: ${document}`)
      const { text, encoding } =
        document === null
          ? decodeText(bytes, path, asked)
          : { text: document.text, encoding: { name: 'utf-8' } }
      const firstPage = page ?? (last_page === undefined ? null : 1)
      const lastPage = last_page ?? firstPage
      const shown =
        firstPage === null || lastPage === null ? text : pagesOf(text, firstPage, lastPage)
      if (shown === null)
        return fail(
          document?.pages == null
            ? `"${path}" has no pages. Use start_line and end_line.`
            : `"${path}" has no text on ${firstPage === lastPage ? `page ${page}` : `pages ${firstPage} to ${lastPage}`}. It has ${document.pages} pages.`,
        )
      seen.note(context.runId, path, state.version)
      const part = cutLines(shown, start_line ?? 1, end_line ?? Number.POSITIVE_INFINITY)
      if (start_line !== undefined && start_line > Math.max(1, part.total))
        return fail(
          `"${path}" has only ${part.total} lines; start_line ${start_line} is past the end.`,
        )
      const shownPath = parsePath(path).text
      const untrusted =
        (await outsideText.isIn(workspace, [bytes])) ||
        (await isUnaccepted(workspace, shownPath, async () => bytes))
      const range = `lines ${part.start} to ${part.end} of ${part.total}`
      return markUntrusted(
        succeed(
          {
            path: shownPath,
            content: line_numbers ? numbered(part.content, part.start) : part.content,
            start_line: part.start,
            end_line: part.end,
            total_lines: part.total,
            truncated: part.truncated,
            ...(part.truncated ? { note: noteFor(part, range) } : {}),
            ...(document?.pages == null ? {} : { pages: document.pages }),
            ...(document?.note == null ? {} : { missing: document.note }),
            ...(encoding.name === 'utf-8' ? {} : { encoding: encoding.name }),
          },
          {
            display: `Read ${shownPath} (${range})`,
            kind: 'file',
            path: shownPath,
            version: state.version,
          },
        ),
        untrusted,
      )
    },
  })
}

function createFileList({ services }: FileToolDependencies): ToolDefinition {
  const { outsideText } = services.checkpoints
  return defineTool({
    name: 'file_list',
    aliases: TOOL_ALIASES.file_list,
    description:
      'Lists the direct contents of a project folder with sizes in bytes. Use file_glob to search subfolders.',
    category: 'file',
    riskLevel: 'low',
    cacheable: true,
    input: z.object({
      path: folderPath,
      pattern: z.string().min(1).max(500).default('*').describe('Name filter, e.g. "*.py".'),
    }),
    async handler({ path, pattern }, context) {
      const matches = compileGlob(pattern)
      const shownPath = parsePath(path).text || '.'
      const workspace = await requireWorkspace(services, context)
      const all = await workspace.list(path)
      const found = all.filter(({ name }) => matches(name))
      const entries = found.slice(0, MAX_LISTED).map(({ name, path: inner, kind, size }) => ({
        name,
        path: inner,
        type: kind,
        size,
      }))
      const rest = found.length - entries.length
      const untrusted = await outsideText.isInNames(
        workspace,
        entries.map(({ name }) => name),
      )
      return markUntrusted(
        succeed(
          {
            path: shownPath,
            entries,
            ...(rest > 0 ? { note: `${rest} more entries were omitted; narrow the pattern.` } : {}),
          },
          { display: `${found.length} entries in ${shownPath}`, kind: 'listing', path: shownPath },
        ),
        untrusted,
      )
    },
  })
}

function createFileExists({ services }: FileToolDependencies): ToolDefinition {
  return defineTool({
    name: 'file_exists',
    description: 'Checks whether a project path exists and whether it is a file or a folder.',
    category: 'file',
    riskLevel: 'low',
    cacheable: true,
    input: z.object({ path: PathInput.describe(FILE_PATH) }),
    async handler({ path }, context) {
      const state = await (await requireWorkspace(services, context)).state(path)
      const shownPath = parsePath(path).text || '.'
      return succeed(
        state === null
          ? { path: shownPath, exists: false }
          : { path: shownPath, exists: true, type: state.kind, size: state.size },
        {
          display: `${shownPath} ${state === null ? 'does not exist' : 'exists'}`,
          path: shownPath,
        },
      )
    },
  })
}

function createFileGlob({ services }: FileToolDependencies): ToolDefinition {
  const { outsideText } = services.checkpoints
  return defineTool({
    name: 'file_glob',
    aliases: TOOL_ALIASES.file_glob,
    description:
      'Finds project files by path pattern: "*.py" in any folder, "src/**/*.ts" below src, "{a,b}" for alternatives. Skips files in .gitignore. To search contents use file_grep.',
    category: 'file',
    riskLevel: 'low',
    cacheable: true,
    input: z.object({
      pattern: withoutNul(z.string().min(1).max(500)),
    }),
    async handler({ pattern }, context) {
      const workspace = await requireWorkspace(services, context)
      const { paths, truncated } = await services.search.find(
        workspace,
        pattern,
        MAX_LISTED,
        context.signal,
      )
      return markUntrusted(
        succeed(
          { pattern, paths, total: paths.length, truncated },
          { display: `${paths.length} files match ${pattern}`, kind: 'listing' },
        ),
        await outsideText.isInNames(workspace, paths),
      )
    },
  })
}

function createFileGrep({ services, isUnaccepted }: ReadingDependencies): ToolDefinition {
  const { outsideText } = services.checkpoints
  const isOneUnaccepted = async (workspace: Workspace, paths: readonly string[]) => {
    const read = async (path: string) => (await workspace.read(path)).bytes
    for (const path of paths) {
      // A file that cannot be read any more is not the accepted one.
      const isWaiting = await isUnaccepted(workspace, path, () => read(path)).catch(
        (error: unknown) => {
          if (error instanceof AppError) return true
          throw error
        },
      )
      if (isWaiting) return true
    }
    return false
  }
  return defineTool({
    name: 'file_grep',
    aliases: TOOL_ALIASES.file_grep,
    description:
      'Searches the lines of project text files for a regular expression. Skips binary files and files in .gitignore. Escape special characters to match them literally.',
    category: 'file',
    riskLevel: 'low',
    namesAddresses: true,
    cacheable: true,
    input: z.object({
      pattern: withoutNul(z.string().min(1).max(1000)).describe(
        'Regular expression, e.g. "def \\\\w+\\\\(".',
      ),
      path: PathInput.optional().describe('File or folder; default: the whole project.'),
      glob: withoutNul(z.string().min(1).max(500)).optional().describe('File filter, e.g. "*.ts".'),
      case_sensitive: z.boolean().default(false).describe('Match upper and lower case.'),
      max_results: z.int().min(1).max(1000).default(100).describe('Lines to return.'),
    }),
    async handler({ pattern, path, glob, case_sensitive, max_results }, context) {
      const workspace = await requireWorkspace(services, context)
      const { matches, truncated } = await services.search.grep(workspace, {
        pattern,
        fixed: false,
        caseSensitive: case_sensitive,
        path: path ?? '',
        ...(glob === undefined ? {} : { glob }),
        maxResults: max_results,
        onProgress: (progress) => context.progress({ kind: 'count', ...progress }),
        signal: context.signal,
      })
      const paths = [...new Set(matches.map((match) => match.path))]
      const untrusted =
        (await outsideText.isInNames(workspace, paths)) ||
        (await outsideText.isInFiles(workspace, paths)) ||
        (await isOneUnaccepted(workspace, paths))
      return markUntrusted(
        succeed(
          {
            matches,
            truncated,
            ...(truncated
              ? { note: 'There may be more matches; narrow pattern, path or glob.' }
              : {}),
          },
          {
            display: `${matches.length} matches in ${paths.length} files for ${pattern}`,
            kind: 'matches',
          },
        ),
        untrusted,
      )
    },
  })
}

/** A picture for models that see; for the others, the data says what it is. */
function pictureResult(
  path: string,
  bytes: number,
  version: string,
  picture: PreparedImage,
): ToolResult {
  const { mime: type, width, height } = picture.original
  const about = `${width}x${height}`
  const fields = { display: `Read ${path} (${about})`, kind: 'image', path, version }
  const data = { path, type, width, height, bytes }
  if (picture.bytes.byteLength > MAX_RESULT_IMAGE_BYTES)
    return succeed(
      { ...data, note: 'The picture is too large to be shown, to you and to the user.' },
      fields,
    )
  const { image, file } = imageOfResult(path.split('/').at(-1) ?? path, picture)
  const isScaled = picture.width !== width || picture.height !== height
  const scaled = isScaled ? { shown_at: `${picture.width}x${picture.height}` } : {}
  return {
    ...succeed({ ...data, ...scaled }, { ...fields, files: [file] }),
    images: [image],
  }
}

interface LinePart {
  content: string
  start: number
  end: number
  total: number
  truncated: boolean
  /** Whether the last line is cut because it is very long. */
  cutInLine: boolean
}

/**
 * The lines from `start` to `end`, as many as fit. Scans for line breaks, because splitting a large file into lines is
 * slow.
 */
function cutLines(text: string, start: number, end: number): LinePart {
  let line = 1
  let from = start === 1 ? 0 : -1
  let to = text.length
  let last = Number.POSITIVE_INFINITY
  const lastLine = Math.min(end, start + MAX_LINES - 1)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (line === lastLine) {
      to = at + 1
      last = line
    }
    line++
    if (line === start) from = at + 1
  }
  const total = text === '' ? 0 : text.endsWith('\n') ? line - 1 : line
  if (from === -1)
    return { content: '', start, end: start - 1, total, truncated: false, cutInLine: false }
  let content = text.slice(from, to)
  let shownEnd = Math.min(last, total)
  let cutInLine = false
  if (content.length > MAX_CHARACTERS) {
    const whole = content.lastIndexOf('\n', MAX_CHARACTERS - 1)
    cutInLine = whole === -1
    content = content.slice(0, cutInLine ? MAX_CHARACTERS : whole + 1)
    const ends = content.split('\n').length - 1
    shownEnd = start + (cutInLine ? 0 : ends - 1)
  }
  const truncated = cutInLine || shownEnd < Math.min(end, total)
  return { content, start, end: shownEnd, total, truncated, cutInLine }
}

const noteFor = (part: LinePart, range: string): string =>
  part.cutInLine
    ? `Line ${part.start} is longer than ${MAX_CHARACTERS} characters and was cut. Use file_grep to search it${part.end < part.total ? `, or continue with start_line=${part.end + 1}` : ''}.`
    : `Only ${range} are shown. Continue with start_line=${part.end + 1}.`

function numbered(content: string, start: number): string {
  const closed = content.endsWith('\n')
  const lines = (closed ? content.slice(0, -1) : content).split('\n')
  const text = lines.map((line, index) => `${start + index}\t${line}`).join('\n')
  return closed ? `${text}\n` : text
}
