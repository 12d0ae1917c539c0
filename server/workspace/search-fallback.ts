// Searching without ripgrep: the same answers from a walk and a worker thread, slower and with the plain rules of `.gitignore`.
import { compileGlob, type GlobMatcher } from './glob.ts'
import { type ProjectPath, parsePath } from './paths.ts'
import type { FindResult, GrepRequest, GrepResult } from './search-request.ts'
import { binaryKind, decodeText, splitLines } from './text.ts'
import { type Entry, walk } from './walk.ts'
import type { WorkerPool } from './worker-pool.ts'
import type { Workspace } from './workspace.ts'

const MAX_ENTRIES = 50_000

interface IgnoreRule {
  matches: GlobMatcher
  foldersOnly: boolean
  keeps: boolean
}

/** The rules of the project's own `.gitignore` at its top. */
async function readIgnoreRules(workspace: Workspace): Promise<IgnoreRule[]> {
  const content = await workspace.read('.gitignore').catch(() => null)
  if (content === null) return []
  return splitLines(content.bytes.toString('utf8'))
    .map((line) => line.replace(/\r$/, '').trimEnd())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(0, 1_000)
    .map((line) => {
      const keeps = line.startsWith('!')
      const pattern = keeps ? line.slice(1) : line
      return {
        matches: compileGlob(pattern.replace(/\/$/, '')),
        foldersOnly: pattern.endsWith('/'),
        keeps,
      }
    })
}

function isIgnored(entry: Entry, rules: readonly IgnoreRule[]): boolean {
  if (entry.name === '.git') return true
  const last = rules.findLast(
    (rule) => (!rule.foldersOnly || entry.kind === 'directory') && rule.matches(entry.path),
  )
  return last !== undefined && !last.keeps
}

async function listFiles(
  workspace: Workspace,
  within: ProjectPath,
  signal: AbortSignal | undefined,
): Promise<{ files: Entry[]; complete: boolean }> {
  const rules = await readIgnoreRules(workspace)
  const files: Entry[] = []
  const { complete } = await walk(
    workspace.root,
    within,
    {
      maxEntries: MAX_ENTRIES,
      skip: (entry) => isIgnored(entry, rules),
      ...(signal === undefined ? {} : { signal }),
    },
    (entry) => {
      if (entry.kind === 'file' && !isIgnored(entry, rules)) files.push(entry)
    },
  )
  return { files, complete }
}

export async function findFilesSlowly(
  workspace: Workspace,
  pattern: string,
  maxResults: number,
  signal: AbortSignal | undefined,
): Promise<FindResult> {
  const matches = compileGlob(pattern)
  const { files, complete } = await listFiles(workspace, parsePath(''), signal)
  const paths = files.map(({ path }) => path).filter(matches)
  return {
    paths: paths.slice(0, maxResults).sort(),
    truncated: !complete || paths.length > maxResults,
  }
}

export async function grepSlowly(
  workspace: Workspace,
  within: ProjectPath,
  request: GrepRequest,
  bounds: { pool: WorkerPool; timeoutMs: number; maxFileBytes: number },
): Promise<GrepResult> {
  const end = Date.now() + bounds.timeoutMs
  const state = await workspace.state(within.text)
  const isFile = state?.kind === 'file'
  const { files, complete } = isFile
    ? { files: [{ path: within.text, size: state.size }], complete: true }
    : await listFiles(workspace, within, request.signal)
  const wanted = request.glob === undefined ? () => true : compileGlob(request.glob)
  const result: GrepResult = { matches: [], truncated: !complete }
  for (const { path, size } of files) {
    if (!wanted(path) || size > bounds.maxFileBytes) continue
    const content = await workspace.read(path).catch(() => null)
    if (content === null || binaryKind(content.bytes) !== null) continue
    const found = await bounds.pool.run(
      'find',
      {
        pattern: request.pattern,
        fixed: request.fixed,
        caseSensitive: request.caseSensitive,
        text: decodeText(content.bytes, path).text,
        limit: request.maxResults - result.matches.length,
      },
      {
        timeoutMs: Math.max(1, end - Date.now()),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      },
    )
    for (const match of found.matches) result.matches.push({ path, ...match })
    if (found.truncated || Date.now() >= end) return { ...result, truncated: true }
  }
  return result
}
