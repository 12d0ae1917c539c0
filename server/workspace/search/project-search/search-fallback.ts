// Search without ripgrep: walks the tree, decodes the files and matches in a worker thread. Same results, slower.

import { type Entry, walk } from '../../files/entries.ts'
import { compileGlob } from '../../files/glob.ts'
import { IGNORE_FILE, type IgnoreRules, rulesAbove } from '../../files/ignore-rules.ts'
import { type ProjectPath, parsePath } from '../../files/paths.ts'
import { binaryKind, decodeText } from '../../files/text.ts'
import type { WorkerPool } from '../../worker/worker-pool.ts'
import type { Workspace } from '../../workspace.ts'
import type { FindResult, GrepRequest, GrepResult } from '../search-request.ts'

const MAX_ENTRIES = 50_000

/** All files that are not ignored, including `within` itself. */
async function listFiles(
  workspace: Workspace,
  within: ProjectPath,
  signal: AbortSignal | undefined,
): Promise<{ files: Entry[]; complete: boolean }> {
  const { rules: above } = await rulesAbove(workspace, within)
  const rules = new Map<string, IgnoreRules>()
  const rulesFor = (folder: string): IgnoreRules => rules.get(folder) ?? above
  const files: Entry[] = []
  const { complete } = await walk(
    workspace.root,
    within,
    {
      maxEntries: MAX_ENTRIES,
      async enter(folder, entries) {
        const outer = folder === within.text ? above : rulesFor(parentOf(folder))
        const own = entries.some(({ name }) => name === IGNORE_FILE)
        rules.set(folder, own ? await outer.enter(folder) : outer)
      },
      skip: (entry) => rulesFor(parentOf(entry.path)).isIgnored(entry),
      ...(signal === undefined ? {} : { signal }),
    },
    (entry) => {
      if (entry.kind === 'file' && !rulesFor(parentOf(entry.path)).isIgnored(entry))
        files.push(entry)
    },
  )
  return { files, complete }
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Finds files by a pattern where ripgrep is not available. */
export async function findFilesFallback(
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

/** The limits of one search. */
export interface GrepBounds {
  pool: WorkerPool
  timeoutMs: number
  /** Larger files are not searched. */
  maxFileBytes: number
}

/** Searches contents in a worker thread where ripgrep is not available. */
export async function grepFallback(
  workspace: Workspace,
  within: ProjectPath,
  request: GrepRequest,
  bounds: GrepBounds,
): Promise<GrepResult> {
  const state = await workspace.state(within.text)
  const isFile = state?.kind === 'file'
  // An unreadable file is an error if it was named explicitly; otherwise it is skipped.
  if (isFile) await workspace.read(within.text, bounds.maxFileBytes)
  const { files, complete } = isFile
    ? { files: [{ path: within.text, size: state.size }], complete: true }
    : await listFiles(workspace, within, request.signal)
  const matchesGlob = request.glob === undefined ? () => true : compileGlob(request.glob)
  const wanted = files.filter(({ path, size }) => matchesGlob(path) && size <= bounds.maxFileBytes)
  const paths = wanted.map(({ path }) => path)
  const { matches, truncated } = await grepFiles(workspace, paths, request, bounds)
  return { matches, truncated: truncated || !complete }
}

/** Searches the contents of these files, each decoded in its encoding. Binary files and those that cannot be read are skipped. */
export async function grepFiles(
  workspace: Workspace,
  paths: readonly string[],
  request: GrepRequest,
  bounds: GrepBounds,
): Promise<GrepResult> {
  const deadline = Date.now() + bounds.timeoutMs
  const result: GrepResult = { matches: [], truncated: false }
  let searched = 0
  for (const path of paths) {
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
        timeoutMs: Math.max(1, deadline - Date.now()),
        owner: workspace.userId,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      },
    )
    for (const match of found.matches) result.matches.push({ path, ...match })
    searched += 1
    request.onProgress?.({ done: searched, unit: 'files' })
    if (found.truncated || Date.now() >= deadline) return { ...result, truncated: true }
  }
  return result
}
