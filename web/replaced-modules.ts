// What the build replaces in libraries: styles that the content security policy forbids, and icons that take too much memory.
import type { Plugin } from 'vite'
import { moduleOf } from './bundled-files.ts'

/** Code that would add `<style>` elements or attributes, which the content security policy forbids. */
const STYLE_ELEMENTS: readonly { module: RegExp; from: RegExp; to: string }[] = [
  // `app/late-toaster.tsx` imports its stylesheet.
  { module: /\/sonner\/dist\/index\.mjs$/, from: /^__insertCSS\(.*$/m, to: '' },
  // Adopts a stylesheet in documents too, not only in shadow roots.
  {
    module: /\/style-mod\/src\/style-mod\.js$/,
    from: /!root\.head && root\.adoptedStyleSheets/,
    to: 'root.adoptedStyleSheets',
  },
  // Parses the HTML of formulas into a tree; the browser refuses `style` attributes even there (see math-plugins.ts).
  {
    module: /\/hast-util-from-html-isomorphic\/lib\/browser\.js$/,
    from: /template\.innerHTML = value$/m,
    to: `template.innerHTML = value.replaceAll(' style="', ' data-style="')`,
  },
]

/** Whole modules, by the name under which `importer` imports them. */
const MODULES: readonly { name: string; importer: RegExp; replacement: string }[] = [
  // With it, Radix dialogs and menus lock scrolling.
  {
    name: 'react-style-singleton',
    importer: /./,
    replacement: moduleOf('lib/browser/adopted-style.ts'),
  },
  // 50 messages take 0.5 MB less.
  {
    name: '../createLucideIcon.mjs',
    importer: /\/lucide-react\//,
    replacement: moduleOf('ui/controls/lucide-icon.tsx'),
  },
]

/** Applies the replacements. Fails if a library no longer contains what is to be replaced. */
export const replacedModules = (): Plugin => ({
  name: 'replaced-modules',
  enforce: 'pre',
  apply: 'build',
  resolveId: (id, importer = '') =>
    MODULES.find((one) => one.name === id && one.importer.test(importer))?.replacement ?? null,
  transform(code, id) {
    const rule = STYLE_ELEMENTS.find(({ module }) => module.test(id))
    if (rule === undefined) return null
    if (!rule.from.test(code)) throw new Error(`${id} adds its styles in another way than before.`)
    return { code: code.replace(rule.from, rule.to), map: null }
  },
})
