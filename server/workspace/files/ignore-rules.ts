// What `.gitignore` files of a project exclude, as git reads them: one in any folder, where the deepest one decides.

import type { Workspace } from '../workspace.ts'
import { compileGlob, type GlobMatcher } from './glob.ts'
import { childPath, type ProjectPath } from './paths.ts'
import { splitLines } from './text.ts'

/** The rules in one folder: those of its own file and of the files above. */
export interface IgnoreRules {
  /** Whether an entry of the folder is excluded. Not called for entries below an excluded one. */
  leaveOut(entry: { path: string; name: string; kind: string }): boolean
  /** The rules in a subfolder, when that has a file of its own. */
  enter(folder: string): Promise<IgnoreRules>
}

interface IgnoreRule {
  /** Matches a path relative to the folder of the rule's file. */
  matches: GlobMatcher
  foldersOnly: boolean
  /** Begins with `!`: includes what an earlier rule excluded. */
  keeps: boolean
}
interface Level {
  folder: string
  rules: readonly IgnoreRule[]
}

export const IGNORE_FILE = '.gitignore'
const MAX_RULES = 1_000
const MAX_FILE_BYTES = 256 * 1024

/**
 * The rules above `path`, and whether they exclude it. A search that names an excluded path finds it anyway: then no
 * rules from above apply.
 */
export async function rulesAbove(
  workspace: Workspace,
  path: ProjectPath,
): Promise<{ leftOut: boolean; rules: IgnoreRules }> {
  let rules = rulesOf([], workspace)
  let here = ''
  for (const name of path.segments) {
    rules = await rules.enter(here)
    here = childPath(here, name)
    const kind = here === path.text ? (await workspace.state(here))?.kind : 'directory'
    if (rules.leaveOut({ path: here, name, kind: kind ?? 'file' }))
      return { leftOut: true, rules: rulesOf([], workspace) }
  }
  return { leftOut: false, rules }
}

function rulesOf(levels: readonly Level[], workspace: Workspace): IgnoreRules {
  return {
    leaveOut({ path, name, kind }) {
      if (name === '.git') return true
      for (const { folder, rules } of levels.toReversed()) {
        const relative = folder === '' ? path : path.slice(folder.length + 1)
        const last = rules.findLast(
          (rule) => (!rule.foldersOnly || kind === 'directory') && rule.matches(relative),
        )
        if (last !== undefined) return !last.keeps
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
  // Without a file, or with one that is too large or unreadable, nothing is excluded.
  const content = await workspace.read(path, MAX_FILE_BYTES).catch(() => null)
  if (content === null) return []
  return splitLines(content.bytes.toString('utf8')).slice(0, MAX_RULES).flatMap(toRule)
}

function toRule(text: string): IgnoreRule[] {
  // Trailing spaces count only when escaped.
  const line = text.replace(/\r$/, '').replace(/(?<!\\) +$/, '')
  if (line.startsWith('#')) return []
  const keeps = line.startsWith('!')
  const pattern = keeps ? line.slice(1) : line
  const path = pattern
    .replace(/\/$/, '')
    // Everything in a folder, but not the folder.
    .replace(/\/\*\*$/, '/**/*')
  if (path === '') return []
  try {
    return [{ matches: compileGlob(path), foldersOnly: pattern.endsWith('/'), keeps }]
  } catch {
    // Longer than any pattern that is read here.
    return []
  }
}
