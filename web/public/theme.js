// Sets the colour theme and the sidebar before the first paint, so that nothing flashes. The same rules live in
// src/lib/theme.ts, src/lib/display.ts and src/app/use-sidebar.ts.
;(() => {
  let stored = null
  let sidebar = null
  let display = {}
  try {
    stored = localStorage.getItem('nanoclaw.theme')
    sidebar = localStorage.getItem('nanoclaw.sidebar')
    display = JSON.parse(localStorage.getItem('nanoclaw.display')) ?? {}
  } catch {
    // Storage is blocked or holds something else: use the system's theme.
  }
  const dark =
    stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  if (sidebar === 'hidden') document.documentElement.dataset.sidebar = 'hidden'
  const { dataset } = document.documentElement
  dataset.theme = dark ? 'dark' : 'light'
  dataset.text = String(display.textSize ?? 'normal')
  dataset.density = String(display.density ?? 'comfortable')
  dataset.motion = String(display.motion ?? 'system')
  const contrast = display.contrast === 'more' || matchMedia('(prefers-contrast: more)').matches
  dataset.contrast = contrast ? 'more' : 'normal'
})()
