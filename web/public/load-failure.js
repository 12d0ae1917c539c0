// Shows a notice if the application cannot start, instead of leaving its skeleton on the screen. It runs before the
// application. It is a separate file because the content security policy allows no inline script.
;(() => {
  const TEXTS = {
    en: ['NanoClaw could not be loaded.', 'Check the connection, then reload.', 'Reload'],
    de: [
      'NanoClaw konnte nicht geladen werden.',
      'Prüfe die Verbindung und lade die Seite neu.',
      'Neu laden',
    ],
    es: ['No se pudo cargar NanoClaw.', 'Comprueba la conexión y vuelve a cargar.', 'Recargar'],
    fr: [
      'NanoClaw n’a pas pu être chargé.',
      'Vérifiez la connexion, puis rechargez la page.',
      'Recharger',
    ],
    pt: [
      'Não foi possível carregar o NanoClaw.',
      'Verifique a conexão e recarregue.',
      'Recarregar',
    ],
    ru: [
      'Не удалось загрузить NanoClaw.',
      'Проверьте подключение и обновите страницу.',
      'Обновить',
    ],
    ja: [
      'NanoClaw を読み込めませんでした。',
      '接続を確認して、再読み込みしてください。',
      '再読み込み',
    ],
    ko: ['NanoClaw를 불러오지 못했습니다.', '연결을 확인한 다음 새로고침하세요.', '새로고침'],
    zh: ['NanoClaw 未能加载。', '请检查网络连接，然后重新加载。', '重新加载'],
    'zh-Hant': ['無法載入 NanoClaw。', '請檢查網路連線，然後重新載入。', '重新載入'],
  }

  function texts() {
    let stored = null
    try {
      stored = localStorage.getItem('nanoclaw.language')
    } catch {
      // Storage is blocked: use the browser's language.
    }
    for (const tag of [stored, ...navigator.languages]) {
      const isTraditional = /^zh-(hant|tw|hk|mo)/i.test(String(tag))
      const code = isTraditional ? 'zh-Hant' : String(tag).toLowerCase().split('-')[0]
      if (Object.hasOwn(TEXTS, code)) return { code, lines: TEXTS[code] }
    }
    return { code: 'en', lines: TEXTS.en }
  }

  function showNotice() {
    const skeleton = document.querySelector('.boot')
    // The application has started and shows its errors itself.
    if (skeleton === null) return
    const { code, lines } = texts()
    const notice = document.createElement('div')
    notice.className = 'boot-failure'
    notice.setAttribute('role', 'alert')
    notice.lang = code
    const [title, advice, label] = lines
    for (const [name, text] of [
      ['strong', title],
      ['span', advice],
      ['button', label],
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
