// Sets the colour theme before the first paint, so that nothing flashes. The same rule lives in src/lib/theme.ts.
;(() => {
  let stored = null
  try {
    stored = localStorage.getItem('nanoclaw.theme')
  } catch {
    // Storage may be blocked; then the system's choice holds.
  }
  const dark =
    stored === 'dark' || (stored !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
