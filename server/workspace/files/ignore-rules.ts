// The `.gitignore` rules of a project, as git applies them: any folder may have a file, and the deepest match decides.

import type { Workspace } from '../workspace.ts'
import { compileGlob, type GlobMatcher } from './glob.ts'
import { childPath, type ProjectPath } from './paths.ts'
import { splitLines } from './text.ts'

/** The rules that apply in one folder: those of its own file and of the files above it. */
export interface IgnoreRules {
  /** Whether an entry of the folder is ignored. Not called for entries below an ignored folder. */
  isIgnored(entry: { path: string; name: string; kind: string }): boolean
  /** The rules of a subfolder that has its own file. */
  enter(folder: string): Promise<IgnoreRules>
}

interface IgnoreRule {
  /** Matches a path relative to the folder of the rule's file. */
  matches: GlobMatcher
  foldersOnly: boolean
  /** The rule begins with `!` and re-includes what an earlier rule ignored. */
  negated: boolean
}
interface Level {
  folder: string
  rules: readonly IgnoreRule[]
}

export const IGNORE_FILE = '.gitignore'
const MAX_RULES = 1_000
const MAX_FILE_BYTES = 256 * 1024

/**
 * The rules above `path`, and whether they ignore it. A search that names an ignored path finds it anyway: no rules from
 * above apply then.
 */
export async function rulesAbove(
  workspace: Workspace,
  path: ProjectPath,
): Promise<{ isIgnored: boolean; rules: IgnoreRules }> {
  let rules = rulesOf([], workspace)
  let here = ''
  for (const name of path.segments) {
    rules = await rules.enter(here)
    here = childPath(here, name)
    const kind = here === path.text ? (await workspace.state(here))?.kind : 'directory'
    if (rules.isIgnored({ path: here, name, kind: kind ?? 'file' }))
      return { isIgnored: true, rules: rulesOf([], workspace) }
  }
  return { isIgnored: false, rules }
}

function rulesOf(levels: readonly Level[], workspace: Workspace): IgnoreRules {
  return {
    isIgnored({ path, name, kind }) {
      if (name === '.git') return true
      for (const { folder, rules } of levels.toReversed()) {
        const relative = folder === '' ? path : path.slice(folder.length + 1)
        const last = rules.findLast(
          (rule) => (!rule.foldersOnly || kind === 'directory') && rule.matches(relative),
        )
        if (last !== undefined) return !last.negated
      }
      return false
    },
    async enter(folder) {
      const rules = await readRules(workspace, childPath(folder, IGNORE_FILE))
      return rulesOf(rules.length === 0 ? levels : [...levels, { folder, rules }], workspace)
    },
  }
}

async function readRules(workspace: Workspace, path: string): Promise<IgnoreRule[]> {
  // A missing, unreadable or oversized file ignores nothing.
  const content = await workspace.read(path, MAX_FILE_BYTES).catch(() => null)
  if (content === null) return []
  return splitLines(content.bytes.toString('utf8')).slice(0, MAX_RULES).flatMap(toRule)
}

function toRule(text: string): IgnoreRule[] {
  // Trailing spaces count only when escaped.
  const line = text.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
  if (line.startsWith('#')) return []
  const negated = line.startsWith('!')
  const pattern = negated ? line.slice(1) : line
  const path = pattern
    .replace(/\/$/, '')
    // Everything in the folder, but not the folder itself.
    .replace(/\/\*\*$/, '/**/*')
  if (path === '') return []
  try {
    return [{ matches: compileGlob(path), foldersOnly: pattern.endsWith('/'), negated }]
  } catch {
    // Too long or too complex: the rule is skipped.
    return []
  }
}
