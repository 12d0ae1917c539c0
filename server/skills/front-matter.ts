// Reads the text of a SKILL.md: its front matter, which may come from anywhere, and its instructions.
import { isAlias, isCollection, isNode, parseDocument, visit } from 'yaml'
import { z } from 'zod'
import type { SkillDetails } from '../protocol/projects/skills.ts'

/** What the text of a skill says, or why it says nothing usable. */
export type ReadSkill =
  | ({ ok: true } & SkillText)
  | { ok: false; error: string; warnings: string[] }

/** What the text of a valid skill says. */
export type SkillText = Pick<
  SkillDetails,
  'name' | 'description' | 'license' | 'compatibility' | 'metadata' | 'allowed_tools' | 'body'
> & {
  modelInvocable: boolean
  userInvocable: boolean
  warnings: string[]
}

/** The front matter of an honest skill is shorter in every way; parsing a longer one would block the event loop. */
const MAX_HEAD = 4 * 1024
const MAX_FIELDS = 64
const MAX_MARKS = 200
const MAX_DESCRIPTION = 1_024
const MAX_COMPATIBILITY = 500
const MAX_WARNINGS = 20
const SHOWN_KEY = 40

/** The form of a name of a skill, which is also that of its folder. */
export const SkillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)

/** Fields that are read; every other one is ignored with a warning. */
const KNOWN: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
  'disable-model-invocation',
  'user-invocable',
])

/** Reads the bytes of a SKILL.md. @param folder the name of its folder; null for a text that comes without one. */
export function readSkillText(bytes: Uint8Array, folder: string | null): ReadSkill {
  const warnings: string[] = []
  const invalid = (error: string): ReadSkill => ({ ok: false, error, warnings })
  // What cannot be compared cannot be shown to the person who accepts it.
  if (bytes.includes(0)) return invalid('SKILL.md has a NUL character.')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return invalid('SKILL.md is not UTF-8.')
  }
  const [all, head, body = ''] =
    /^---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n(.*))?$/s.exec(text) ?? []
  if (all === undefined || head === undefined)
    return invalid('SKILL.md does not begin with front matter between two lines of `---`.')
  if (head.length > MAX_HEAD)
    return invalid(`The front matter is longer than ${MAX_HEAD / 1024} KB.`)
  if (
    (head.match(/^[^ \t\r\n]/gm)?.length ?? 0) > MAX_FIELDS ||
    (head.match(/[[{,]/g)?.length ?? 0) > MAX_MARKS
  )
    return invalid('The front matter has too many fields or values.')
  const fields = readFields(head, warnings)
  if (fields === null) return invalid('The front matter is not YAML with named fields.')

  const name = SkillName.safeParse(fields.get('name'))
  if (!name.success)
    return invalid(
      '`name` is missing or not made of at most 64 lower-case letters, digits and single hyphens.',
    )
  if (folder !== null && name.data !== folder)
    return invalid(`\`name\` is ${name.data}, but the folder is ${folder.slice(0, SHOWN_KEY)}.`)
  const description = fields.get('description')
  if (typeof description !== 'string' || description.trim() === '')
    return invalid('`description` is missing.')
  if (description.trim().length > MAX_DESCRIPTION)
    return invalid(`\`description\` has more than ${MAX_DESCRIPTION} characters.`)
  for (const key of fields.keys())
    if (!KNOWN.has(key) && warnings.length < MAX_WARNINGS)
      warnings.push(`The field ${JSON.stringify(key.slice(0, SHOWN_KEY))} is ignored.`)

  /** The value of an optional field; null with a warning for one of another form. */
  const optional = <T>(key: string, form: z.ZodType<T>): T | null => {
    const value = fields.get(key)
    if (value === undefined || value === null) return null
    const read = form.safeParse(value)
    if (read.success) return read.data
    warnings.push(`The value of \`${key}\` is ignored.`)
    return null
  }
  return {
    ok: true,
    name: name.data,
    description: description.trim(),
    license: optional('license', z.string().max(1_000)),
    compatibility: optional('compatibility', z.string().max(MAX_COMPATIBILITY)),
    metadata: optional('metadata', Metadata) ?? {},
    allowed_tools: optional('allowed-tools', AllowedTools) ?? [],
    modelInvocable: optional('disable-model-invocation', z.boolean()) !== true,
    userInvocable: optional('user-invocable', z.boolean()) !== false,
    body: body.trim(),
    warnings,
  }
}

const Scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String)
const Metadata = z
  .map(z.string().max(200), Scalar.pipe(z.string().max(2_000)))
  .refine(({ size }) => size <= 100)
  .transform((entries): Record<string, string> => Object.fromEntries(entries))
const AllowedTools = z
  .union([z.string().transform((text) => text.split(/\s+/)), z.array(z.string())])
  .transform((names) => names.filter((one) => one !== ''))
  .refine((names) => names.length <= 100 && names.every(({ length }) => length <= 200))

/** The fields of the front matter; null if it is not a map. A `Map`, so that no key has a meaning for JavaScript. */
function readFields(head: string, warnings: string[]): ReadonlyMap<string, unknown> | null {
  const read = readYaml(head)
  if (read !== null) return read
  const quoted = readYaml(withQuotedValues(head))
  if (quoted !== null)
    warnings.push('The front matter is not YAML; it was read with its values quoted.')
  return quoted
}

/** A value with a colon and a space, which YAML takes for another field, as many hand-written skills have. */
const withQuotedValues = (head: string): string =>
  head.replaceAll(
    /^([A-Za-z][\w-]*):[ \t]+(?!["'|>[{&*!])(.*: .*)$/gm,
    (_line, key: string, value: string) => `${key}: ${JSON.stringify(value.trim())}`,
  )

function readYaml(head: string): ReadonlyMap<string, unknown> | null {
  try {
    const document = parseDocument(head, { schema: 'core', uniqueKeys: true, logLevel: 'silent' })
    if (document.errors.length > 0 || !isNode(document.contents)) return null
    // An alias stands for a part of the text as often as it is written: what a few lines unfold to has no bound.
    let hasAlias = false
    visit(document, (_key, node) => {
      if (
        isAlias(node) ||
        (isCollection(node) && node.tag !== undefined && /!!(?!map|seq|str)/.test(node.tag))
      ) {
        hasAlias = true
        return visit.BREAK
      }
      return undefined
    })
    if (hasAlias) return null
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: 0 })
    const entries = z.map(z.string(), z.unknown()).safeParse(value)
    return entries.success ? entries.data : null
  } catch {
    // The parser calls itself for each level of nesting: a text of brackets ends its stack.
    return null
  }
}
