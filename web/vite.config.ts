// How the page is built (to dist/web, which the server serves) and developed (proxied to a running server).
import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env.NANOCLAW_DEV_SERVER ?? 'http://127.0.0.1:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: resolve(import.meta.dirname, '../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows no inline script, and module preload needs no polyfill at this target.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  worker: { format: 'es' },
  server: {
    port: 4000,
    proxy: { '/api': server, '/v1': server, '/healthz': server },
  },
})
