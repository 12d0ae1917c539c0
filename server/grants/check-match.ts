// Refuses matches that say less than they seem to, and those that are too wide for conversations with text from outside.
import { appError } from '../errors.ts'
import { type GrantMatch, type GrantPattern, MAX_MATCH_CHARACTERS } from '../protocol/runs/grant.ts'
import type { ToolDefinition } from '../tools/definition.ts'
import { type ArgumentKind, boundsOf, EXEC, kindOf, mayBecomeMedium } from './argument-forms.ts'
import { isOpenGlob } from './globs.ts'
import { normalPattern, originOf } from './match-call.ts'

/** @throws AppError `grant_match_invalid`, `grant_match_too_large` or `grant_too_wide`. */
export function checkMatch(
  tool: ToolDefinition,
  match: GrantMatch,
  { evenTainted }: { evenTainted: boolean },
): void {
  if (JSON.stringify(match).length > MAX_MATCH_CHARACTERS) throw appError('grant_match_too_large')
  for (const [name, pattern] of Object.entries(match)) {
    const fault = faultOf(kindOf(tool, name), pattern)
    if (fault !== null) throw appError('grant_match_invalid', { argument: name, detail: fault })
  }
  if (evenTainted) assertBounded(tool, match)
}

/** Why an argument cannot have this pattern; null if it can. */
function faultOf(kind: ArgumentKind, pattern: GrantPattern): string | null {
  const text = textOf(pattern)
  if (kind === 'command') {
    if ('glob' in pattern || 'any' in pattern)
      return 'A command is matched by `equals`, `one_of` or `prefix`.'
    if (text?.trim() === '') return 'The beginning of a command must name a program.'
  }
  if (kind === 'address' && text !== null && originOf(text) === null)
    return 'The pattern of an address begins with scheme, host and port up to the `/` after the host, such as `https://example.com/`, without a user.'
  return null
}

const textOf = (pattern: GrantPattern): string | null =>
  'prefix' in pattern ? pattern.prefix : 'glob' in pattern ? pattern.glob : null

/** @throws AppError `grant_too_wide`. */
function assertBounded(tool: ToolDefinition, match: GrantMatch): void {
  const bounds = boundsOf(tool)
  const isMedium =
    tool.riskLevel === 'medium' || (tool.riskLevel === 'low' && mayBecomeMedium(tool))
  if (bounds === null || tool.name === EXEC || !isMedium)
    throw appError('grant_tool_too_wide', { tool: tool.name })
  for (const [name, pattern] of Object.entries(match))
    if (bounds(name) && isTooWide(name, pattern))
      throw appError('grant_too_wide', { argument: name })
}

/** Whether a pattern of an argument that bounds the call lets through what text from outside could choose. */
function isTooWide(name: string, pattern: GrantPattern): boolean {
  if ('any' in pattern) return true
  const text = textOf(pattern)
  if (text === null) return false
  if (name === 'to') return true
  if (name === 'path') {
    const normal = normalPattern('path', text)
    const fixed = 'glob' in pattern ? (normal.split('*')[0] ?? '') : normal
    return !fixed.includes('/')
  }
  return text === '' || ('glob' in pattern && isOpenGlob(text))
}
