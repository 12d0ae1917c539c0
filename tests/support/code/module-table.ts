// The table of modules in docs/architecture.md: its last column is written from the layer rules.
import { SERVER_MODULES } from './layers.ts'

/** What nearly every module may import; the table leaves it out. */
const COMMON: readonly string[] = ['protocol', 'errors.ts', 'lib', '..']

/** A row of the table: the name of the module, linked to a file of it, and what lives there. */
const MODULE_ROW = /^(\| \[`([^`/]+)\/?`\]\(\.\.\/server\/[^)]*\) \| .* \|)[^|]*\|$/gm

/** The names of the modules that have a row. */
export const modulesIn = (page: string): string[] =>
  [...page.matchAll(MODULE_ROW)].map(([, , module = '']) => module)

/** The page with the last column of the table as the layer rules have it. */
export const withModuleTable = (page: string): string =>
  page.replace(MODULE_ROW, (_row, cells: string, module: string) => {
    const allowed = (SERVER_MODULES[module] ?? []).filter((name) => !COMMON.includes(name))
    const names = allowed.includes('*')
      ? 'everything'
      : allowed.map((name) => `\`${name}\``).join(', ')
    return `${cells} ${names}${names === '' ? '' : ' '}|`
  })
