// Dictation with the browser's speech recognition.

import { Mic } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { LANGUAGES, languageOf } from '../../../../../locales/languages.ts'
import { shownLanguage } from '../../../lib/i18n/i18n.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../../lib/newest.ts'
import { IconButton } from '../../../ui/controls/button.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { createRecognition, type Recognition } from './speech-recognition.ts'

/** The language of the page, in the browser's regional variant if it has one. */
const spokenLanguage = (): string => {
  const language = shownLanguage()
  return languageOf(navigator.language) === language ? navigator.language : LANGUAGES[language].tag
}

/** Starts and stops the dictation. `onHeard` receives each phrase once it is final, in the page's language. */
export function DictationButton({ onHeard }: { onHeard: (text: string) => void }) {
  const { t } = useTranslation()
  const [listening, setListening] = useState(false)
  const running = useRef<Recognition | null>(null)
  const newest = useNewest(onHeard)
  useEffect(() => () => running.current?.abort(), [])

  const toggle = (): void => {
    if (running.current !== null) {
      running.current.stop()
      return
    }
    const recognition = createRecognition()
    if (recognition === null) return
    recognition.lang = spokenLanguage()
    recognition.continuous = true
    recognition.onresult = ({ resultIndex, results }) => {
      const finalResults = [...results].slice(resultIndex).filter(({ isFinal }) => isFinal)
      const text = finalResults.map((result) => result[0]?.transcript ?? '').join('')
      if (text !== '') newest.current(text)
    }
    recognition.onerror = ({ error }) => {
      if (error === 'aborted' || error === 'no-speech') return
      const isBlocked = error === 'not-allowed' || error === 'service-not-allowed'
      notify(t(isBlocked ? 'composer.microphoneBlocked' : 'composer.dictationFailed'), 'error')
    }
    recognition.onend = () => {
      running.current = null
      setListening(false)
    }
    running.current = recognition
    setListening(true)
    recognition.start()
  }
  return (
    <IconButton
      icon={Mic}
      label={t(listening ? 'composer.stopDictation' : 'composer.dictate')}
      {...(listening ? {} : { hint: t('composer.dictateHint') })}
      pressed={listening}
      tipSide="top"
      onClick={toggle}
    />
  )
}
