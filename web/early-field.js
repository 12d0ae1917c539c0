// The message field while the application loads: stores its text as the composer's draft, and remembers whether to send it.
// The composer takes over in src/features/chat/composer/use-early-field.ts. The build puts it into the document and prepends
// `START_TEXTS`: by language, the field's label and placeholder, which are the composer's, and the note that the message will be sent.
;(() => {
  const early = document.getElementById('early')
  const field = document.getElementById('early-message')
  const sign = document.getElementById('early-sign')
  const { screen, base = '' } = document.documentElement.dataset
  if (screen === 'other') {
    early.remove()
    return
  }

  const read = (storage, key) => {
    try {
      return window[storage].getItem(`nanoclaw${base}.${key}`)
    } catch {
      return null // storage is blocked
    }
  }
  const languages = [read('localStorage', 'language'), ...navigator.languages]
  const codes = languages.map((tag) =>
    /^zh-(hant|tw|hk|mo)/i.test(String(tag)) ? 'zh-Hant' : String(tag).toLowerCase().split('-')[0],
  )
  const { message, placeholder, willBeSent } =
    START_TEXTS[codes.find((code) => Object.hasOwn(START_TEXTS, code)) ?? 'en']
  field.setAttribute('aria-label', message)
  field.placeholder = placeholder

  const key = screen === 'home' ? 'new' : location.pathname.slice(base.length).split('/')[2]
  early.dataset.draft = key
  const draft = `private.draft.${key}`
  field.value = read('sessionStorage', draft) ?? ''

  const sendLater = (shouldSend) => {
    if (shouldSend) early.dataset.send = ''
    else delete early.dataset.send
    sign.textContent = shouldSend ? `↑ ${willBeSent}` : ''
  }
  field.addEventListener('input', () => {
    // The user is still writing.
    sendLater(false)
    try {
      sessionStorage.setItem(`nanoclaw${base}.${draft}`, field.value)
    } catch {
      // Storage is blocked: the composer takes the text from the field.
    }
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229)
      return
    let sendKey = 'enter'
    try {
      sendKey = JSON.parse(read('localStorage', 'display'))?.sendKey ?? 'enter'
    } catch {
      // The stored value is invalid: Enter sends.
    }
    // The keyboard of a touch screen has no other key for a new line.
    if (matchMedia('(pointer: coarse)').matches) sendKey = 'mod-enter'
    if (sendKey === 'mod-enter' && !event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    if (field.value.trim() !== '') sendLater(true)
  })
  // While an input method composes, the composer does not take over.
  field.addEventListener('compositionstart', () => {
    early.dataset.composing = ''
  })
  field.addEventListener('compositionend', () => delete early.dataset.composing)
  if (matchMedia('(pointer: fine) and (min-height: 24rem)').matches) {
    field.focus({ preventScroll: true })
    field.setSelectionRange(field.value.length, field.value.length)
  }
})()
