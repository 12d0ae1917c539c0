// The container of toasts, loaded after the first screen.
import { useEffect, useState } from 'react'
import { firstScreen } from '../lib/browser/first-screen.tsx'
import { useTranslation } from '../lib/i18n/use-translation.tsx'
import { markToasterReady } from '../ui/overlays/toasts.ts'
import { lazyPart } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'

const Toaster = lazyPart(() =>
  Promise.all([import('sonner'), import('sonner/dist/styles.css')]).then(
    ([module]) => module.Toaster,
  ),
)

/** Mounts the toaster after the first screen. `dark`: whether the page shows the dark theme. */
export function LateToaster({ dark }: { dark: boolean }) {
  const { t } = useTranslation()
  const [isDue, setIsDue] = useState(false)
  useEffect(() => void firstScreen.then(() => setIsDue(true)), [])
  if (!isDue) return null
  return (
    <PartBoundary fallback={null} instead={null}>
      <Toaster
        containerAriaLabel={t('shell.notices')}
        theme={dark ? 'dark' : 'light'}
        position="top-center"
        // One failure must not hide another, as when several files cannot be attached.
        expand
        // Below the page's title bar.
        offset={{ top: 60 }}
        mobileOffset={{ top: 64 }}
        toastOptions={{
          // A dialog takes the pointer from everything else.
          className:
            '!pointer-events-auto !rounded-xl !border-line !bg-surface !text-ink !shadow-float !font-sans',
        }}
      />
      <Ready />
    </PartBoundary>
  )
}

/** Releases earlier notices. Rendered after the toaster, which listens by then. */
function Ready() {
  useEffect(markToasterReady, [])
  return null
}
