// `nanoclaw config`: every key with the value that is in force and where it comes from. Secrets are hidden.
import { stringify } from 'yaml'
import type { LoadedConfig, Source } from '../config/load.ts'
import { HIDDEN, withoutSecrets } from '../lib/redact.ts'

/** Sections whose values may be secret whatever their names, if they come from variables: arguments of programs. */
const OF_PROGRAMS = 'mcp_servers'

/**
 * The configuration in the form of the file, with a comment behind each value that names its source: `default`, the file, or
 * a variable of the environment.
 * @param options `changedOnly`: without the defaults.
 */
export function describeConfig(
  { config, sourceOf }: Pick<LoadedConfig, 'config' | 'sourceOf'>,
  { changedOnly }: { changedOnly: boolean },
): string[] {
  const lines: string[] = []
  const write = (path: readonly string[], value: unknown): void => {
    if (value === undefined) return
    const indent = '  '.repeat(path.length - 1)
    const key = path.at(-1) ?? ''
    if (isSection(value) && Object.keys(value).length > 0) {
      const before = lines.length
      lines.push(`${indent}${key}:`)
      for (const [name, child] of Object.entries(value)) write([...path, name], child)
      // Only its name was written.
      if (lines.length === before + 1) lines.pop()
      return
    }
    const source = sourceOf(path)
    if (source === null && changedOnly) return
    const isHidden = path[0] === OF_PROGRAMS && (source?.references.length ?? 0) > 0
    const comment = `# ${describeSource(source)}`
    if (Array.isArray(value) && value.some(isSection)) {
      lines.push(`${indent}${key}: ${comment}`)
      for (const item of value) lines.push(`${indent}  - ${inline(item)}`)
    } else lines.push(`${indent}${key}: ${inline(isHidden ? HIDDEN : value)} ${comment}`)
  }
  for (const [key, value] of Object.entries(withoutSecrets(config))) write([key], value)
  return lines
}

const isSection = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const inline = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trim()

function describeSource(source: Source | null): string {
  if (source === null) return 'default'
  if (source.from === 'variable') return `environment variable ${source.place}`
  const references = source.references.map((name) => `\${${name}}`).join(', ')
  return references === '' ? source.place : `${source.place}, ${references}`
}
