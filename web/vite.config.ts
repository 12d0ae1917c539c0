// Vite configuration: the build of the page to dist/web, which the server serves, and the development server with its proxy.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { transformSync } from 'esbuild'
import { defineConfig, type Plugin } from 'vite'
import { LANGUAGES } from '../locales/languages.ts'
import { appLibraries } from './app-libraries.ts'
import { bundledFile, moduleOf } from './bundled-files.ts'
import { replacedModules } from './replaced-modules.ts'
import { startScript, startScripts } from './start-scripts.ts'

const server = process.env.NANOCLAW_DEV_SERVER ?? 'http://127.0.0.1:3000'

/**
 * Moves the stylesheets after the skeleton in index.html, so that the skeleton is painted before they have loaded. Scripts
 * still wait for them, so the application never appears unstyled.
 */
const stylesAfterFrame = (): Plugin => ({
  name: 'styles-after-frame',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const styles = html.match(/[ \t]*<link rel="stylesheet"[^>]*\/assets\/[^>]*>\n?/g) ?? []
      const rest = styles.reduce((left, tag) => left.replace(tag, ''), html)
      return rest.replace('</body>', `${styles.join('')}</body>`)
    },
  },
})

const scriptTag = (name: string): RegExp => new RegExp(`<script\\s+src="/${name}\\.js"></script>`)

/**
 * Inlines the styles and scripts of the skeleton and its message field: on a slow connection, separate files would compete
 * with the application's scripts. The server allows them by their hashes (`server/http/stack/web-app.ts`).
 */
const inlineFrame = (): Plugin => ({
  name: 'inline-frame',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html, { path }) {
      if (!path.endsWith('/index.html')) return html
      const read = (name: string, loader: 'css' | 'js'): string => {
        const source = readFileSync(resolve(import.meta.dirname, 'public', name), 'utf8')
        return transformSync(source, {
          loader,
          minify: true,
          target: 'es2022',
          charset: 'utf8',
        }).code.trim()
      }
      const parts: readonly [RegExp, string][] = [
        [
          /<link rel="stylesheet" href="\/boot\.css" \/>/,
          `<style>${read('boot.css', 'css')}</style>`,
        ],
        [scriptTag('theme'), `<script>${read('theme.js', 'js')}</script>`],
        [scriptTag('early-field'), `<script>${startScript('early-field.js')}</script>`],
      ]
      return parts.reduce((whole, [tag, part]) => {
        if (!tag.test(whole)) throw new Error(`index.html has no ${tag}`)
        return whole.replace(tag, () => part)
      }, html)
    },
  },
})

/** The page of a conversation needs the chunks with these modules and their imports, besides the first screen. */
const CONVERSATION_MODULES = ['app/chat-page.tsx', 'ui/markdown/markdown.tsx'].map(moduleOf)

/** Puts `early-requests.js` into the document, with the files that it preloads. */
const earlyRequests = (): Plugin => ({
  name: 'early-requests',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {}, path }) {
      if (!path.endsWith('/index.html')) return html
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const chunkWith = (id: string) => {
        const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(id))
        if (chunk === undefined) throw new Error(`The build has no chunk with ${id}`)
        return chunk
      }
      const files = new Set(
        CONVERSATION_MODULES.map(chunkWith).flatMap(({ fileName, imports }) => [
          fileName,
          ...imports,
        ]),
      )
      const early = {
        files: [...files].filter((name) => !html.includes(name)).map((name) => `/${name}`),
        texts: Object.fromEntries(
          Object.keys(LANGUAGES).map((code) => [
            code,
            `/${chunkWith(resolve(import.meta.dirname, `../locales/${code}/chat.json`)).fileName}`,
          ]),
        ),
      }
      const source = readFileSync(resolve(import.meta.dirname, 'early-requests.js'), 'utf8')
      const { code } = transformSync(`{const EARLY=${JSON.stringify(early)};${source}}`, {
        minify: true,
        target: 'es2022',
      })
      return html.replace('</body>', () => `<script>${code.trim()}</script></body>`)
    },
  },
})

/**
 * Emits a variant of the document for servers with accounts, which must not offer a message field to visitors who have to
 * sign in first (`public/theme.js`).
 */
const documentWithAccounts = (): Plugin => ({
  name: 'document-with-accounts',
  apply: 'build',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html']
    if (page?.type !== 'asset') throw new Error('The build has no index.html')
    const source = String(page.source).replace('<html ', '<html data-accounts ')
    this.emitFile({ type: 'asset', fileName: 'accounts.html', source })
  },
})

const MERMAID = (() => {
  const manifest = createRequire(import.meta.url).resolve('mermaid/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return { version, manifest }
})()

/**
 * Copies Mermaid's own bundle instead of bundling it again, which would double the time of the build and make the frame
 * that draws diagrams share files with the page.
 */
function builtMermaid({ version, manifest }: typeof MERMAID): Plugin {
  const from = join(dirname(manifest), 'dist')
  const folder = `assets/mermaid-${version}`
  const chunks = 'chunks/mermaid.esm.min'
  return {
    name: 'built-mermaid',
    apply: 'build',
    enforce: 'pre',
    resolveId: (id) =>
      id === 'mermaid' ? { id: `./mermaid-${version}/mermaid.esm.min.mjs`, external: true } : null,
    generateBundle() {
      const names = readdirSync(join(from, chunks)).filter((name) => name.endsWith('.mjs'))
      for (const name of ['mermaid.esm.min.mjs', ...names.map((one) => `${chunks}/${one}`)])
        this.emitFile({
          type: 'asset',
          fileName: `${folder}/${name}`,
          source: readFileSync(join(from, name)),
        })
    },
  }
}

/**
 * Lazy modules that reading conversations and writing need without a connection, even right after the first visit. The
 * texts in the user's language are cached when the page loads them.
 */
const OFFLINE_SOURCES = [
  'app/(chat-page|drawer)',
  'features/chat/(queue/[^/]+|runs/(use-attach|start-run)|steps/tool-body|approvals/approval-card)',
  'features/chat/attachments/attachment-chips',
  'features/chat/composer/(dictation-button|model-picker|suggestions/suggestion-list)',
  'features/conversations/conversation-rows',
  'lib/offline/(copies|worker)',
  'ui/(overlays/(dialog-parts|menu-parts)|code/diff-view|markdown/(markdown|code-block|citation-chip))',
]
const OFFLINE = new RegExp(
  `/web/src/(${OFFLINE_SOURCES.join('|')})\\.tsx?$|/server/protocol/sources/answer-sources\\.ts$|/node_modules/(sonner/dist|lucide-react/dist/esm/icons)/`,
)

/**
 * Emits the service worker with the lists of all files of this build and of those to cache at once. A new build has other
 * file names, so browsers notice it and replace the worker.
 */
const serviceWorker = (): Plugin => ({
  name: 'service-worker',
  apply: 'build',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const entry = Object.values(bundle).find(
      (file) =>
        file.type === 'chunk' && file.isEntry && file.facadeModuleId?.endsWith('index.html'),
    )
    const first = new Set<string>()
    const add = (name: string): void => {
      const file = bundle[name]
      if (file === undefined || first.has(name)) return
      first.add(name)
      if (file.type === 'chunk') for (const imported of file.imports) add(imported)
    }
    if (entry !== undefined) add(entry.fileName)
    for (const [name, file] of Object.entries(bundle))
      if (file.type === 'chunk' && file.moduleIds.some((id) => OFFLINE.test(id))) add(name)
    for (const name of Object.keys(bundle)) if (name.endsWith('.css')) add(name)
    const files = Object.keys(bundle).filter(
      (name) => name.startsWith('assets/') && !/^assets\/(?:mermaid|libraries)/.test(name),
    )
    const build = {
      first: [...first].map((name) => `/${name}`),
      files: files.map((name) => `/${name}`),
    }
    const source = readFileSync(resolve(import.meta.dirname, 'service-worker.js'), 'utf8')
    this.emitFile({
      type: 'asset',
      fileName: 'service-worker.js',
      source: `const BUILD = ${JSON.stringify(build)}\n${source}`,
    })
  },
})

/** The version of the page, which it compares with that of the server. */
function version(): string {
  const manifest = resolve(import.meta.dirname, '../package.json')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

export default defineConfig({
  root: import.meta.dirname,
  define: { PAGE_VERSION: JSON.stringify(version()) },
  // Files find each other wherever the server is below its host; for its documents, the server puts its path before theirs.
  experimental: {
    renderBuiltUrl: (_file, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  plugins: [
    builtMermaid(MERMAID),
    appLibraries({ version: MERMAID.version, folder: `mermaid-${MERMAID.version}` }),
    replacedModules(),
    react(),
    tailwindcss(),
    inlineFrame(),
    startScripts(),
    earlyRequests(),
    stylesAfterFrame(),
    documentWithAccounts(),
    serviceWorker(),
  ],
  build: {
    outDir: resolve(import.meta.dirname, '../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // The polyfill would be an inline script, which the content security policy forbids; this target does not need it.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      input: ['index.html', 'diagram.html'].map((name) => resolve(import.meta.dirname, name)),
      output: {
        codeSplitting: {
          groups: [{ debugName: 'first screen and chat', name: bundledFile() }],
          includeDependenciesRecursively: false,
        },
      },
    },
  },
  worker: {
    format: 'es',
    // A folder of its own: `registerSecurityHeaders` in `server/http/stack.ts`.
    rolldownOptions: { output: { entryFileNames: 'assets/workers/[name]-[hash].js' } },
  },
  server: {
    port: 4000,
    proxy: {
      '/api': server,
      '/v1': server,
      '/healthz': server,
      '/readyz': server,
      // The data of a link's page; its document comes from here.
      '^/a/': {
        target: server,
        bypass: ({ headers }) =>
          headers.accept?.includes('text/html') === true ? '/index.html' : undefined,
      },
    },
  },
})
