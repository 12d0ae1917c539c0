// Searches a project's files with ripgrep if it is installed (linear-time patterns, can be killed), otherwise with the
// slower fallback.
import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import { appError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { UserId } from '../../protocol/ids.ts'
import { type BubblewrapState, bubblewrapArguments } from '../../sandbox/bubblewrap.ts'
import { startProcess } from '../../sandbox/process.ts'
import { compileGlob } from '../files/glob.ts'
import { rulesAbove } from '../files/ignore-rules.ts'
import { type ProjectPath, parsePath } from '../files/paths.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import { findFilesFallback, grepFallback, grepFiles } from './project-search/search-fallback.ts'
import { throttleProgress } from './search-progress.ts'
import type { FindResult, GrepMatch, GrepRequest, GrepResult } from './search-request.ts'

// Limits concurrent searches, in total and per user, so that one user's searches do not delay those of others.

/** Limits how many searches run at a time, per user and in total. */
interface SearchSlots {
  /**
   * Runs `search` once its user has a free slot. Throws `request_stopped` if the signal aborts while the search waits,
   * `search_busy` if too many of the user's searches are already waiting.
   */
  run<T>(userId: UserId, search: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

interface Waiting {
  userId: UserId
  begin(): void
}

/** @param limits `perUser` and `total`: running searches; `waitingPerUser`: waiting searches of one user. */
export function createSearchSlots(limits: {
  perUser: number
  total: number
  waitingPerUser: number
}): SearchSlots {
  const running = new Map<UserId, number>()
  /** Oldest first. */
  const waiting: Waiting[] = []
  let total = 0
  const countOf = (userId: UserId): number => running.get(userId) ?? 0

  const enter = (userId: UserId): void => {
    total += 1
    running.set(userId, countOf(userId) + 1)
  }
  /** The longest-waiting search of a user with the fewest running searches. */
  const next = (): Waiting | undefined => {
    let chosen: Waiting | undefined
    for (const entry of waiting) {
      if (countOf(entry.userId) >= limits.perUser) continue
      if (chosen === undefined || countOf(entry.userId) < countOf(chosen.userId)) chosen = entry
    }
    return chosen
  }
  const leave = (userId: UserId): void => {
    total -= 1
    const left = countOf(userId) - 1
    if (left > 0) running.set(userId, left)
    else running.delete(userId)
    const chosen = total < limits.total ? next() : undefined
    if (chosen === undefined) return
    waiting.splice(waiting.indexOf(chosen), 1)
    enter(chosen.userId)
    chosen.begin()
  }
  const stopped = () => appError('request_stopped', {}, { retryable: true })

  /** Takes a slot, waiting for one if necessary. */
  const slot = (userId: UserId, signal: AbortSignal | undefined): Promise<void> | undefined => {
    if (signal?.aborted) throw stopped()
    if (total < limits.total && countOf(userId) < limits.perUser) return void enter(userId)
    const ahead = waiting.filter((entry) => entry.userId === userId).length
    if (ahead >= limits.waitingPerUser)
      throw appError('search_busy', { count: ahead }, { retryable: true, retryAfter: 5 })
    return new Promise((resolve, reject) => {
      let release = (): void => {}
      const entry: Waiting = {
        userId,
        begin() {
          release()
          resolve()
        },
      }
      waiting.push(entry)
      if (signal !== undefined)
        release = onAbort(signal, () => {
          const index = waiting.indexOf(entry)
          if (index !== -1) waiting.splice(index, 1)
          reject(stopped())
        })
    })
  }

  return {
    async run(userId, search, signal) {
      await slot(userId, signal)
      try {
        return await search()
      } finally {
        leave(userId)
      }
    },
  }
}

/**
 * Both methods respect `.gitignore`, skip `.git`, follow no links, and return the results so far when the time limit is
 * reached. They throw `bad_request` for an invalid pattern.
 */
export interface ProjectSearch {
  grep(workspace: Workspace, request: GrepRequest): Promise<GrepResult>
  /** Paths of files that match `pattern`, sorted. */
  find(
    workspace: Workspace,
    pattern: string,
    maxResults: number,
    signal?: AbortSignal,
  ): Promise<FindResult>
}

/** Running more searches at once would only slow each of them down. */
const SEARCH_LIMITS = { perUser: 2, total: 4, waitingPerUser: 50 }
/** Characters of a line in a result. */
const MAX_LINE_CHARACTERS = 500
/** The paths of the program and the project inside bubblewrap. */
const SANDBOX_PATHS = { program: '/rg', project: '/project' }

/** A line in UTF-8, in the syntax of ripgrep. */
const UTF_8_LINE =
  '^(?:[\\x00-\\x7F]|[\\xC2-\\xDF][\\x80-\\xBF]|\\xE0[\\xA0-\\xBF][\\x80-\\xBF]|[\\xE1-\\xEF][\\x80-\\xBF]{2}|\\xF0[\\x90-\\xBF][\\x80-\\xBF]{2}|[\\xF1-\\xF4][\\x80-\\xBF]{3})*$'
/** Files in other encodings that are decoded and searched. */
const MAX_OTHER_FILES = 500
/** What may stand for characters that are not ASCII, besides themselves. */
const CLASSES = /\\[pPwWDSBxu]|\[\^/

const BASE_ARGUMENTS = [
  '--no-config',
  '--no-messages',
  '--no-require-git',
  '--no-ignore-parent',
  '--no-ignore-global',
  // Of the ignore files that ripgrep supports, people only expect `.gitignore` to count.
  '--no-ignore-dot',
  '--no-ignore-exclude',
  '--no-follow',
  '--hidden',
  '--glob=!.git',
  '--color=never',
  '--null',
]

/** The program's path, or null when the optional package does not exist for this platform. */
export function findRipgrep(): string | null {
  try {
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`
    const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
    return createRequire(import.meta.url).resolve(`${platform}/bin/${program}`)
  } catch {
    return null
  }
}

/** How the files of projects are searched. */
interface SearchOptions {
  /** From `findRipgrep`; null uses the fallback. */
  ripgrep: string | null
  /** If available, ripgrep sees nothing but the project, so that no link created during a search can lead outside. */
  bubblewrap: BubblewrapState
  pool: WorkerPool
  /** Milliseconds that one search may take. */
  timeoutMs: number
  /** Larger files are not searched. */
  maxFileBytes: number
}

/** Create one per server: it limits how many searches run at once, in total and per user. */
export function createProjectSearch(options: SearchOptions): ProjectSearch {
  const { ripgrep } = options
  const slots = createSearchSlots(SEARCH_LIMITS)

  return {
    async grep(workspace, given) {
      const request = { ...given, onProgress: throttleProgress(given.onProgress) }
      const within = parsePath(request.path)
      await assertSearchable(workspace, within)
      return await slots.run(
        workspace.userId,
        () =>
          ripgrep === null
            ? grepFallback(workspace, within, request, options)
            : grepWithRipgrep(options, ripgrep, workspace, within, request),
        request.signal,
      )
    },
    async find(workspace, pattern, maxResults, signal) {
      await assertSearchable(workspace, parsePath(''))
      return await slots.run(
        workspace.userId,
        () =>
          ripgrep === null
            ? findFilesFallback(workspace, pattern, maxResults, signal)
            : findWithRipgrep(options, ripgrep, workspace, pattern, maxResults, signal),
        signal,
      )
    },
  }
}

/** Runs ripgrep in the project and passes each record of its output to `accept`, which returns false to stop. */
const run = async (
  { bubblewrap, timeoutMs }: SearchOptions,
  workspace: Workspace,
  program: string,
  args: readonly string[],
  separator: '\n' | '\0',
  accept: (piece: string) => boolean,
  { signal, input }: { signal: AbortSignal | undefined; input?: Uint8Array | undefined },
): Promise<{ truncated: boolean }> => {
  const wrapped = bubblewrap.available
    ? {
        command: bubblewrap.path,
        args: [
          ...(await bubblewrapArguments({
            readOnly: [
              { host: program, inside: SANDBOX_PATHS.program },
              { host: workspace.root, inside: SANDBOX_PATHS.project },
            ],
            workingDirectory: SANDBOX_PATHS.project,
            network: 'none',
          })),
          SANDBOX_PATHS.program,
        ],
      }
    : { command: program, args: [] }
  let rest = ''
  let enough = false
  const process = startProcess({
    command: wrapped.command,
    args: [...wrapped.args, ...BASE_ARGUMENTS, ...args],
    cwd: workspace.root,
    env: {},
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
    ...(input === undefined ? {} : { input }),
    maxOutputBytes: 4_000,
    onOutput: (stream, text) => {
      if (stream !== 'stdout' || enough) return
      const pieces = (rest + text).split(separator)
      rest = pieces.pop() ?? ''
      for (const piece of pieces) {
        if (accept(piece)) continue
        enough = true
        process.kill()
        return
      }
    },
  })
  const outcome = await process.done
  if (outcome.startError !== null)
    throw appError('search_not_started', {}, { cause: outcome.startError })
  if (outcome.stderr.startsWith('bwrap:'))
    throw appError('search_not_isolated', {}, { cause: new Error(outcome.stderr) })
  // 0: found, 1: nothing found, 2: an error, which may just mean that some file could not be read.
  if (outcome.exitCode === 2 && outcome.stderr.includes('error'))
    throw appError('search_pattern_invalid', { detail: patternError(outcome.stderr) })
  return { truncated: enough || outcome.timedOut }
}

const grepWithRipgrep = async (
  options: SearchOptions,
  program: string,
  workspace: Workspace,
  within: ProjectPath,
  request: GrepRequest,
): Promise<GrepResult> => {
  const { maxFileBytes, pool, timeoutMs } = options
  // A single file is opened under the path rules and piped in, so that it cannot be replaced by a link in the meantime.
  const isFile = (await workspace.state(within.text))?.kind === 'file'
  const input = isFile ? (await workspace.read(within.text, maxFileBytes)).bytes : undefined
  if (input !== undefined && !isUtf8(input))
    return grepFiles(workspace, [within.text], request, { pool, timeoutMs, maxFileBytes })
  const matchesGlob = request.glob === undefined ? () => true : compileGlob(request.glob)
  const matches: GrepMatch[] = []
  const { truncated } = await run(
    options,
    workspace,
    program,
    [
      '--line-number',
      '--no-heading',
      '--with-filename',
      `--max-columns=${MAX_LINE_CHARACTERS}`,
      '--max-columns-preview',
      `--max-filesize=${maxFileBytes}`,
      request.caseSensitive ? '--case-sensitive' : '--ignore-case',
      ...(request.fixed ? ['--fixed-strings'] : []),
      ...(request.glob === undefined ? [] : typeFilter(request.glob)),
      `--regexp=${request.pattern}`,
      isFile ? '-' : await searchRoot(workspace, within),
    ],
    '\n',
    (text) => {
      const match = readMatch(text)
      if (match === null) return true
      const path = isFile ? within.text : match.path
      if (!isWithin(path, within) || !matchesGlob(path)) return true
      if (matches.length >= request.maxResults) return false
      matches.push({ ...match, path })
      request.onProgress?.({ done: matches.length, unit: 'matches' })
      return true
    },
    { signal: request.signal, input },
  )
  if (isFile || !mayNeedDecoding(request, matches))
    return { matches: matches.sort(byPathAndLine), truncated }
  const others = await otherFiles(options, program, workspace, within, request)
  const decoded = await grepFiles(workspace, others, request, { pool, timeoutMs, maxFileBytes })
  const replaced = new Set(others)
  const all = [...matches.filter(({ path }) => !replaced.has(path)), ...decoded.matches]
  return {
    matches: all.sort(byPathAndLine).slice(0, request.maxResults),
    truncated: truncated || decoded.truncated || all.length > request.maxResults,
  }
}

/** The files that are not in UTF-8, which ripgrep cannot read as text; binary files are among them. */
const otherFiles = async (
  options: SearchOptions,
  program: string,
  workspace: Workspace,
  within: ProjectPath,
  { glob, signal }: GrepRequest,
): Promise<string[]> => {
  const { maxFileBytes } = options
  const matchesGlob = glob === undefined ? () => true : compileGlob(glob)
  const paths: string[] = []
  await run(
    options,
    workspace,
    program,
    [
      '--files-with-matches',
      '--invert-match',
      '--no-unicode',
      '--encoding=none',
      `--max-filesize=${maxFileBytes}`,
      ...(glob === undefined ? [] : typeFilter(glob)),
      `--regexp=${UTF_8_LINE}`,
      await searchRoot(workspace, within),
    ],
    '\0',
    (name) => {
      const path = name.replace(/^\.\//, '')
      if (isWithin(path, within) && matchesGlob(path)) paths.push(path)
      return paths.length < MAX_OTHER_FILES
    },
    { signal },
  )
  return paths.sort()
}

const findWithRipgrep = async (
  options: SearchOptions,
  program: string,
  workspace: Workspace,
  pattern: string,
  maxResults: number,
  signal: AbortSignal | undefined,
): Promise<FindResult> => {
  const matchesGlob = compileGlob(pattern)
  const paths: string[] = []
  const { truncated } = await run(
    options,
    workspace,
    program,
    ['--files', ...typeFilter(pattern), '.'],
    '\0',
    (name) => {
      const path = name.replace(/^\.\//, '')
      if (!matchesGlob(path)) return true
      if (paths.length >= maxResults) return false
      paths.push(path)
      return true
    },
    { signal },
  )
  return { paths: paths.sort(), truncated }
}

/**
 * Arguments that let ripgrep skip files whose name cannot match; the results are still matched against the whole pattern.
 * (Ripgrep's own `--glob` would include files that `.gitignore` excludes.)
 */
function typeFilter(pattern: string): string[] {
  const name = pattern.slice(pattern.lastIndexOf('/') + 1)
  const isPlain = /^[\w.*-]+$/.test(name) && !name.includes('**') && !/[{}]/.test(pattern)
  return isPlain ? [`--type-add=wanted:${name}`, '--type=wanted'] : []
}

/** An ignored folder is searched only if it, or a path in it, was named explicitly. */
async function searchRoot(workspace: Workspace, within: ProjectPath): Promise<string> {
  const { isIgnored } = await rulesAbove(workspace, within)
  return isIgnored ? `./${within.text}` : '.'
}

/** `path NUL line : content`, as `--null --line-number` prints it; anything else is a message of the program. */
function readMatch(text: string): GrepMatch | null {
  const end = text.indexOf('\0')
  const colon = text.indexOf(':', end)
  const line = Number(text.slice(end + 1, colon))
  if (end <= 0 || colon < 0 || !Number.isInteger(line)) return null
  return {
    path: text.slice(0, end).replace(/^\.\//, ''),
    line,
    content: text
      .slice(colon + 1)
      .replace(/\r$/, '')
      .slice(0, MAX_LINE_CHARACTERS + 60),
  }
}

/** Whether files in other encodings than UTF-8 may match, or matched and show replaced characters. */
const mayNeedDecoding = ({ pattern, fixed }: GrepRequest, matches: readonly GrepMatch[]): boolean =>
  Buffer.byteLength(pattern) !== pattern.length ||
  (!fixed && CLASSES.test(pattern)) ||
  matches.some(({ content }) => content.includes('\ufffd'))

const isWithin = (path: string, within: ProjectPath): boolean =>
  within.text === '' || path === within.text || path.startsWith(`${within.text}/`)

const byPathAndLine = (one: GrepMatch, other: GrepMatch): number =>
  one.path < other.path ? -1 : one.path > other.path ? 1 : one.line - other.line

/** Ripgrep's message about a pattern in one line, without the program's name. */
const patternError = (stderr: string): string =>
  stderr
    .replace(/^rg: /, '')
    .replace(/\(\?:\)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300)

async function assertSearchable(workspace: Workspace, path: ProjectPath): Promise<void> {
  const state = await workspace.state(path.text)
  if (state === null) throw appError('search_path_not_found', { path: path.text })
  if (state.kind === 'link') throw appError('search_path_is_link', { path: path.text })
}
