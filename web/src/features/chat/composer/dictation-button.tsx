// Dictation: with the server's service that transcribes, otherwise with the browser's speech recognition.

import { AudioLines, Mic } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { LANGUAGES, languageOf } from '../../../../../locales/languages.ts'
import { useQuota } from '../../../lib/api/quota.ts'
import { transcribe } from '../../../lib/api/speech.ts'
import { shownLanguage } from '../../../lib/i18n/i18n.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { useNewest } from '../../../lib/newest.ts'
import { IconButton } from '../../../ui/controls/button.tsx'
import { notify } from '../../../ui/overlays/toasts.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { canRecord, type Recording, startRecording } from './recording.ts'
import { canRecognize, createRecognition, type Recognition } from './speech-recognition.ts'

/** The language of the page, in the browser's regional variant if it has one. */
const spokenLanguage = (): string => {
  const language = shownLanguage()
  return languageOf(navigator.language) === language ? navigator.language : LANGUAGES[language].tag
}

/** Starts and stops the dictation. `onHeard` receives what was said. Renders nothing where neither way is possible. */
export function DictationButton({ onHeard }: { onHeard: (text: string) => void }) {
  const { data: quota, isPending } = useQuota(canRecord)
  const newest = useNewest(onHeard)
  // Nothing that is said goes to the browser's vendor before it is known that the server has no service of its own.
  if (canRecord && isPending) return null
  if (canRecord && quota?.speech.transcribe === true) return <ServiceButton onHeard={newest} />
  return canRecognize ? <BrowserButton onHeard={newest} /> : null
}

type Newest = RefObject<(text: string) => void>

/** Records until it is pressed again, then adds what the service heard. */
function ServiceButton({ onHeard }: { onHeard: Newest }) {
  const { t } = useTranslation()
  const [state, setState] = useState<'idle' | 'opening' | 'listening' | 'transcribing'>('idle')
  const running = useRef<Recording | null>(null)
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
      running.current?.drop()
    }
  }, [])

  const hear = async (sound: Blob): Promise<void> => {
    setState('transcribing')
    try {
      const text = await transcribe(sound)
      if (text === '') notify(t('composer.nothingHeard'))
      else onHeard.current(text)
    } catch (error) {
      // What was said is not lost: it can be sent again.
      const again = { label: t('common.retry'), onClick: () => void hear(sound) }
      notify(errorText(error), 'error', again)
    } finally {
      setState('idle')
    }
  }

  const record = async (): Promise<void> => {
    setState('opening')
    try {
      const recording = await startRecording()
      running.current = recording
      setState('listening')
      // The view may have been left while the browser asked for the microphone.
      if (!isShown.current) recording.drop()
      const sound = await recording.sound
      running.current = null
      if (sound !== null) return await hear(sound)
    } catch (error) {
      const isBlocked = error instanceof DOMException && error.name === 'NotAllowedError'
      notify(t(isBlocked ? 'composer.microphoneBlocked' : 'composer.noMicrophone'), 'error')
    }
    setState('idle')
  }

  const label = {
    idle: 'composer.dictate',
    opening: 'composer.dictate',
    listening: 'composer.stopDictation',
    transcribing: 'composer.transcribing',
  } as const
  return (
    <IconButton
      icon={state === 'transcribing' ? AudioLines : Mic}
      label={t(label[state])}
      {...(state === 'idle' ? { hint: t('composer.dictateServiceHint') } : {})}
      pressed={state === 'listening'}
      disabled={state === 'opening' || state === 'transcribing'}
      className={state === 'transcribing' ? 'animate-pulse' : ''}
      tipSide="top"
      onClick={() => {
        if (state === 'idle') void record()
        else running.current?.stop()
      }}
    />
  )
}

/** Adds each phrase once it is final, in the page's language. */
function BrowserButton({ onHeard }: { onHeard: Newest }) {
  const { t } = useTranslation()
  const [listening, setListening] = useState(false)
  const running = useRef<Recognition | null>(null)
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
      if (text !== '') onHeard.current(text)
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
