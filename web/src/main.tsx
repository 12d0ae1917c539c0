// The page's entry point: mounts the application.
import './app/styles.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { loadFonts } from './app/load-fonts.ts'
import { loadFirstPage } from './app/pages.tsx'
import { guardDrops } from './lib/browser/dropped-files.ts'
import { dropUnclaimedField } from './lib/browser/early-field.ts'
import { firstScreen } from './lib/browser/first-screen.tsx'
import { startI18n } from './lib/i18n/i18n.ts'
import { TranslationProvider } from './lib/i18n/use-translation.tsx'
import { PartBoundary } from './ui/states/part-boundary.tsx'

const root = document.getElementById('root')
if (root === null) throw new Error('The document has no #root')

// Stops zod from trying to generate code, which the content security policy forbids. zod reads this when it loads later.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
guardDrops()
dropUnclaimedField()
void loadFonts()
// Not in development, where files change without changing their names, so cached ones would be outdated.
if (import.meta.hot === undefined)
  void firstScreen
    .then(() => import('./lib/offline/worker.ts'))
    .then(({ startWorker }) => startWorker())
    .catch(() => undefined) // without the worker, the page needs a connection
const start = async (): Promise<void> => {
  await startI18n()
  await loadFirstPage()
  createRoot(root).render(
    <StrictMode>
      <TranslationProvider>
        <PartBoundary>
          <App />
        </PartBoundary>
      </TranslationProvider>
    </StrictMode>,
  )
}
void start()
