// Sets the theme, the display settings, the sidebar and the kind of screen before the first paint, so that nothing flashes.
// src/lib/preferences/theme.ts, src/lib/preferences/display.ts and src/app/use-sidebar.ts have the same rules.
;(() => {
  // As in src/lib/base-path.ts.
  const { base = '' } = document.documentElement.dataset
  let stored = null
  let sidebar = null
  let display = {}
  let isKnown = true
  try {
    stored = localStorage.getItem(`nanoclaw${base}.theme`)
    sidebar = localStorage.getItem(`nanoclaw${base}.sidebar`)
    display = JSON.parse(localStorage.getItem(`nanoclaw${base}.display`)) ?? {}
    isKnown = localStorage.getItem(`nanoclaw${base}.signed-in`) !== null
  } catch {
    // Storage is blocked or its content is invalid: use the system's theme.
  }
  const dark =
    stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  if (sidebar === 'hidden') document.documentElement.dataset.sidebar = 'hidden'
  const { dataset } = document.documentElement
  // A proxy shows the server at its path; whoever reaches it without the proxy comes to the same path.
  if (!`${location.pathname}/`.startsWith(`${base}/`))
    location.replace(base + location.pathname + location.search + location.hash)
  const pathname = location.pathname.slice(base.length) || '/'
  // With accounts, a visitor who has not signed in here sees the sign-in page.
  const isOpen = isKnown || dataset.accounts === undefined
  dataset.screen = !isOpen
    ? 'other'
    : pathname === '/'
      ? 'home'
      : pathname.startsWith('/c/')
        ? 'conversation'
        : 'other'
  dataset.theme = dark ? 'dark' : 'light'
  dataset.text = String(display.textSize ?? 'normal')
  dataset.density = String(display.density ?? 'comfortable')
  dataset.motion = String(display.motion ?? 'system')
  const contrast = display.contrast === 'more' || matchMedia('(prefers-contrast: more)').matches
  dataset.contrast = contrast ? 'more' : 'normal'
})()
