// Writes what follows from the English texts: their types, and the English texts of refusals for translators.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ERROR_CODES } from '../server/protocol/error.ts'
import { STORED_FAILURES } from '../server/protocol/failures/stored.ts'
import { FAILURES } from '../server/protocol/failures.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'locales/en')

/** Areas of the server and of the build: the page does not translate them by key. */
const NOT_OF_THE_PAGE = ['demo', 'documents', 'messages', 'start']
/** Areas whose texts are found by a code of the protocol, which types them. */
const BY_CODE = ['findings', 'refusals']

type Json = string | readonly Json[] | { readonly [key: string]: Json }

/** The type of a text is the text itself, so that the compiler knows its parameters. */
function typeOf(value: Json, indent: string): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value))
    return `readonly [${value.map((one) => typeOf(one, indent)).join(', ')}]`
  return `{\n${fieldsOf(value, `${indent}  `)}${indent}}`
}

const fieldsOf = (value: Json, indent: string): string =>
  Object.entries(value)
    .map(
      ([key, field]) =>
        `${indent}readonly ${/^\w+$/.test(key) && !/^\d/.test(key) ? key : JSON.stringify(key)}: ${typeOf(field, indent)}\n`,
    )
    .join('')

const nameOf = (area: string): string =>
  `${area.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Texts`

/** The declarations of all English texts. */
export async function englishTypes(): Promise<string> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  const areas = files
    .map((file) => file.replace('.json', ''))
    .filter((area) => !BY_CODE.includes(area))
  const interfaces = await Promise.all(
    areas.map(async (area) => {
      const texts: Json = JSON.parse(await readFile(join(folder, `${area}.json`), 'utf8'))
      return `export interface ${nameOf(area)} {\n${fieldsOf(texts, '  ')}}\n`
    }),
  )
  const page = areas.filter((area) => !NOT_OF_THE_PAGE.includes(area)).map(nameOf)
  return [
    '// The English texts as types. Written by `npm run texts` from locales/en.\n',
    ...interfaces,
    `/** The texts of the page: the keys of \`t\`. */\nexport interface PageTexts\n  extends ${page.join(',\n    ')} {}\n`,
  ].join('\n')
}

/** The English texts of refusals, which the server writes itself: a source for translators, and the keys of all languages. */
export function englishRefusals(): string {
  const kinds = Object.keys(ERROR_CODES).map((code) => [code, '{{message}}'])
  const failures = Object.entries(FAILURES).map(([reason, [, text]]) => [reason, text])
  const reasons: Record<string, string> = {
    ...Object.fromEntries(kinds),
    ...Object.fromEntries(failures),
    ...STORED_FAILURES,
  }
  const additions = {
    detail: ' The provider says: {{detail}}',
    next_model: ' Continuing with “{{next_model}}”.',
  }
  return `${JSON.stringify({ reasons, additions }, null, 2)}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await writeFile(join(folder, 'refusals.json'), englishRefusals())
  await writeFile(join(root, 'locales/english.d.ts'), await englishTypes())
}
