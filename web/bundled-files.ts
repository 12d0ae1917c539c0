// Assigns modules to the files of the build: few files for the first screen and for the page of a conversation.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

/** The absolute path of a module, given its path in `src`. */
export const moduleOf = (path: string): string => resolve(import.meta.dirname, 'src', path)

type Graph = {
  getModuleInfo(id: string): { importedIds: readonly string[]; code: string | null } | null
}

const start = moduleOf('main.tsx')
const chatPage = moduleOf('app/chat-page.tsx')
const markdown = moduleOf('ui/markdown/markdown.tsx')
/** Views that appear without a conversation, and should not wait for its code. */
const otherViews = [
  'features/auth/sign-in-page.tsx',
  'features/auth/join-page.tsx',
  'features/conversations/conversation-rows.tsx',
].map(moduleOf)

/** These modules and everything that they import statically, directly or indirectly. */
function staticImports(graph: Graph, ...modules: string[]): Set<string> {
  const found = new Set<string>()
  const open = [...modules]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue
    found.add(id)
    open.push(...(graph.getModuleInfo(id)?.importedIds ?? []))
  }
  return found
}

/** Texts of views after the first screen; refusals and findings are loaded separately, when they are needed. */
const LATER_TEXTS = /\/locales\/([\w-]+)\/(?!(?:first-screen|refusals|findings)\.json)[\w-]+\.json$/

const ICON = /\/lucide-react\/dist\/esm\/icons\/([^/]+)\.mjs$/
const ICON_IMPORT = /import\s*\{([^}]*)\}\s*from\s*["']lucide-react["']/g

/**
 * The file names of the icons that these modules import. The graph is not enough: modules import icons from one list, which
 * imports all icons of the page.
 */
function iconsOf(modules: ReadonlySet<string>, graph: Graph): Set<string> {
  const list = readFileSync(
    createRequire(import.meta.url)
      .resolve('lucide-react')
      .replace(/[^/]+\/[^/]+$/, 'esm/lucide-react.mjs'),
    'utf8',
  )
  const fileOf = new Map<string, string>()
  for (const [, names = '', file = ''] of list.matchAll(
    /export \{([^}]*)\} from '\.\/icons\/([^']+)\.mjs'/g,
  ))
    for (const [, name = ''] of names.matchAll(/default as (\w+)/g)) fileOf.set(name, file)
  const found = new Set<string>()
  for (const id of modules)
    for (const [, names = ''] of graph.getModuleInfo(id)?.code?.matchAll(ICON_IMPORT) ?? [])
      for (const name of names.split(','))
        found.add(fileOf.get(name.trim().split(/\s+as\s+/)[0] ?? '') ?? '')
  return found
}

/**
 * Returns the function that names the file of a module; null leaves the choice to the bundler.
 *
 * The first screen has two files besides the entry script: libraries and the page's own code. Few files compress better,
 * and a slow connection carries the headers of two responses instead of twelve. Menus, dialogs and everything else that is
 * not visible at first stay outside if nothing imports them statically (see `src/ui/states/late.tsx`). The icons of the page
 * of a conversation are in one file, those of all other views in another.
 *
 * The texts of all later views in one language are one file. The page of a conversation is one file instead of thirty small ones, without the modules of `otherViews`.
 */
export function bundledFile() {
  let modules: Set<string> | null = null
  let icons: Set<string> | null = null
  let chatIcons: Set<string> | null = null
  let chat: Set<string> | null = null
  let others: Set<string> | null = null
  return (id: string, graph: Graph): string | null => {
    modules ??= staticImports(graph, start)
    const [, icon] = ICON.exec(id) ?? []
    if (icon !== undefined) {
      icons ??= iconsOf(modules, graph)
      if (icons.has(icon)) return 'libraries'
      chatIcons ??= iconsOf(staticImports(graph, chatPage, markdown), graph)
      return chatIcons.has(icon) ? 'chat-icons' : 'icons'
    }
    if (id === start) return null
    if (modules.has(id)) return id.includes('/node_modules/') ? 'libraries' : 'first-screen'
    const [, language] = LATER_TEXTS.exec(id) ?? []
    if (language !== undefined) return `texts-${language}`
    chat ??= staticImports(graph, chatPage)
    others ??= staticImports(graph, ...otherViews)
    return chat.has(id) && !others.has(id) ? 'chat' : null
  }
}
