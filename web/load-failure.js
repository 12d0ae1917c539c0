// Shows a notice if the application cannot start, instead of leaving its skeleton on the screen. It runs before the
// application. It is a separate file because the content security policy allows no inline script.
// The build prepends `START_TEXTS`, the notice in each language.
;(() => {
  function texts() {
    let stored = null
    try {
      stored = localStorage.getItem(
        `nanoclaw${document.documentElement.dataset.base ?? ''}.language`,
      )
    } catch {
      // Storage is blocked: use the browser's language.
    }
    for (const tag of [stored, ...navigator.languages]) {
      const isTraditional = /^zh-(hant|tw|hk|mo)/i.test(String(tag))
      const code = isTraditional ? 'zh-Hant' : String(tag).toLowerCase().split('-')[0]
      if (Object.hasOwn(START_TEXTS, code)) return { code, ...START_TEXTS[code] }
    }
    return { code: 'en', ...START_TEXTS.en }
  }

  function showNotice() {
    const skeleton = document.querySelector('.boot')
    // The application has started and shows its errors itself.
    if (skeleton === null) return
    const { code, failed, failedAdvice, reload } = texts()
    const notice = document.createElement('div')
    notice.className = 'boot-failure'
    notice.setAttribute('role', 'alert')
    notice.lang = code
    for (const [name, text] of [
      ['strong', failed],
      ['span', failedAdvice],
      ['button', reload],
    ]) {
      const part = document.createElement(name)
      part.textContent = text
      notice.append(part)
    }
    notice.lastChild.addEventListener('click', () => location.reload())
    // Its text is stored as a draft.
    document.getElementById('early')?.remove()
    skeleton.replaceWith(notice)
  }

  // Errors of elements do not bubble, so this listens in the capture phase. They mean that a script did not load or that the browser cannot run it.
  addEventListener(
    'error',
    ({ target }) => {
      if (target === window || target instanceof HTMLScriptElement) showNotice()
    },
    true,
  )
  addEventListener('unhandledrejection', showNotice)
})()
