// Sets the colour theme and the sidebar before the first paint, so that nothing flashes. The same rules live in
// src/lib/theme.ts and src/app/use-sidebar.ts.
;(() => {
  let stored = null
  let sidebar = null
  try {
    stored = localStorage.getItem('nanoclaw.theme')
    sidebar = localStorage.getItem('nanoclaw.sidebar')
  } catch {
    // Storage is blocked: use the system's theme.
  }
  const dark =
    stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  if (sidebar === 'hidden') document.documentElement.dataset.sidebar = 'hidden'
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
