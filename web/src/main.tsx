// The page's entry point: mounts the application.
import './app/styles.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { loadFonts } from './app/load-fonts.ts'
import { guardDrops } from './lib/browser/dropped-files.ts'
import { dropUnclaimedField } from './lib/browser/early-field.ts'
import { firstScreen } from './lib/browser/first-screen.tsx'
import { startI18n } from './lib/i18n/i18n.ts'
import { PartBoundary } from './ui/states/part-boundary.tsx'

const root = document.getElementById('root')
if (root === null) throw new Error('The document has no #root')

// The content security policy forbids the code generation that zod would try. It reads this when it loads, with a later part.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
guardDrops()
dropUnclaimedField()
void loadFonts()
// While the page is developed, its files change without new names.
if (import.meta.hot === undefined)
  void firstScreen
    .then(() => import('./lib/offline/worker.ts'))
    .then(({ startWorker }) => startWorker())
    .catch(() => undefined) // without it, the page needs a connection
void startI18n().then(() => {
  createRoot(root).render(
    <StrictMode>
      <PartBoundary>
        <App />
      </PartBoundary>
    </StrictMode>,
  )
})
