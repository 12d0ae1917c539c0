// How the page is built (to dist/web, which the server serves) and developed (proxied to a running server).
import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const server = process.env.NANOCLAW_DEV_SERVER ?? 'http://127.0.0.1:3000'

/**
 * The frame of the page is painted before its styles have come: they are named after it. Scripts still wait for them, so
 * that nothing of the application is ever seen without.
 */
const stylesAfterFrame = (): Plugin => ({
  name: 'styles-after-frame',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const styles = html.match(/[ \t]*<link rel="stylesheet"[^>]*>\n?/g) ?? []
      const rest = styles.reduce((left, tag) => left.replace(tag, ''), html)
      return rest.replace('</body>', `${styles.join('')}</body>`)
    },
  },
})

/** Libraries that every page needs whole, so that one file of them holds nothing in vain. */
const libraries =
  /\/node_modules\/(react|react-dom|scheduler|react-i18next|i18next|@tanstack\/[a-z-]+|zustand|wouter|@floating-ui\/[a-z-]+)\//

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), stylesAfterFrame()],
  build: {
    outDir: resolve(import.meta.dirname, '../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows no inline script, and module preload needs no polyfill at this target.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // In one file they compress better, and a slow line carries the headers of one answer instead of ten.
          groups: [{ name: 'libraries', test: libraries }],
          includeDependenciesRecursively: false,
        },
      },
    },
  },
  worker: { format: 'es' },
  server: {
    port: 4000,
    proxy: { '/api': server, '/v1': server, '/healthz': server },
  },
})
