// Runs at the end of the document. At `/c/…`, it requests what the page of a conversation needs: otherwise a slow connection is
// idle between the end of loading the first screen and the moment its code requests them. The build puts it into the document
// and prepends `EARLY`: the page's files, and the file of its texts for each language.
;(() => {
  const { base = '', accounts } = document.documentElement.dataset
  const [, id] = /^\/c\/([\w-]+)$/.exec(location.pathname.slice(base.length)) ?? []
  if (id === undefined) return
  const request = (properties) =>
    document.head.append(
      Object.assign(document.createElement('link'), { fetchPriority: 'low', ...properties }),
    )
  // Where there are accounts, only the application has the token for these. The same URLs as in `src/lib/api/`.
  if (accounts === undefined)
    for (const path of ['', '/messages?limit=40'])
      request({
        rel: 'preload',
        as: 'fetch',
        crossOrigin: 'anonymous',
        href: `${base}/api/conversations/${id}${path}`,
      })
  // As in `src/lib/i18n/i18n.ts`, except that only the browser's first language counts.
  let language = navigator.language
  try {
    language = localStorage.getItem(`nanoclaw${base}.language`) ?? language
  } catch {
    // Storage is blocked: the browser's language is shown.
  }
  const isTraditional = /^zh-(hant|tw|hk|mo)/i.test(language)
  const texts = EARLY.texts[isTraditional ? 'zh-Hant' : language.split('-')[0]]
  for (const href of texts === undefined ? EARLY.files : [...EARLY.files, texts])
    request({ rel: 'modulepreload', href: base + href })
})()
