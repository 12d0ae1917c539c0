// The page's entry point: mounts the application.
import './app/styles.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { loadFonts } from './app/load-fonts.ts'
import { guardDrops } from './lib/dropped-files.ts'
import { startI18n } from './lib/i18n/i18n.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('The document has no #root')

guardDrops()
void loadFonts()
void startI18n().then(() => {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
})
