// What a grant allows, in words.
import type { TFunction } from 'i18next'
import type { GrantMatch, GrantPattern } from '../../../server/protocol/runs/grant.ts'
import { visibleText } from '../../../server/protocol/runs/visible-text.ts'
import { argumentLabel } from './argument-label.ts'

/** Characters of a value that are shown. */
const MAX_SHOWN = 120
/** Values that are named one by one. */
const MAX_VALUES = 4

/** One argument of a rule: its name, and what it may be. */
export interface RuleLine {
  name: string
  label: string
  text: string
}

/** The lines of a rule, in the order of its arguments. */
export const ruleLines = (match: GrantMatch, t: TFunction): RuleLine[] =>
  Object.entries(match).map(([name, pattern]) => ({
    name,
    label: argumentLabel(name, t),
    text: patternText(pattern, t),
  }))

function patternText(pattern: GrantPattern, t: TFunction): string {
  if ('any' in pattern) return t('grants.any')
  if ('equals' in pattern) return shown(pattern.equals)
  if ('prefix' in pattern) return t('grants.prefix', { text: shown(pattern.prefix) })
  if ('glob' in pattern) return t('grants.glob', { text: shown(pattern.glob) })
  const named = pattern.one_of.slice(0, MAX_VALUES).map(shown)
  const more = pattern.one_of.length - named.length
  return [...named, ...(more > 0 ? [t('grants.more', { count: more })] : [])].join(' · ')
}

function shown(value: unknown): string {
  const text = visibleText(typeof value === 'string' ? value : JSON.stringify(value))
    .replace(/\s+/g, ' ')
    .trim()
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`
}
