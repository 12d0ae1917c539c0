// Where toasts appear; loads after the first screen.
import { useEffect, useState } from 'react'
import { firstScreen } from '../lib/browser/first-screen.tsx'
import { markToasterReady } from '../ui/overlays/toasts.ts'
import { lazyPart } from '../ui/states/late.tsx'
import { PartBoundary } from '../ui/states/part-boundary.tsx'

const Toaster = lazyPart(() =>
  Promise.all([import('sonner'), import('sonner/dist/styles.css')]).then(
    ([module]) => module.Toaster,
  ),
)

/** `dark`: draws toasts in the dark theme. */
export function LateToaster({ dark }: { dark: boolean }) {
  const [wanted, setWanted] = useState(false)
  useEffect(() => void firstScreen.then(() => setWanted(true)), [])
  if (!wanted) return null
  return (
    <PartBoundary fallback={null} instead={null}>
      <Toaster
        theme={dark ? 'dark' : 'light'}
        position="top-center"
        // Below the title and the buttons beside it.
        offset={{ top: 60 }}
        mobileOffset={{ top: 64 }}
        toastOptions={{
          className: '!rounded-xl !border-line !bg-surface !text-ink !shadow-float !font-sans',
        }}
      />
      <Ready />
    </PartBoundary>
  )
}

/** Rendered after the toaster, so that the toaster already listens. */
function Ready() {
  useEffect(markToasterReady, [])
  return null
}
