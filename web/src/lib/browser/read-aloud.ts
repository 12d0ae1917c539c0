// Reads texts aloud with the browser's voices.
import { create } from 'zustand'

/** Browsers stop longer utterances in the middle. */
const MAX_UTTERANCE_CHARACTERS = 180
const HAN = /\p{Script=Han}/u

/** Whether the browser has speech synthesis. */
export const canReadAloud = 'speechSynthesis' in globalThis

/** The id of the text that is being read; null when none is. */
export const useReading = create<{ id: string | null }>(() => ({ id: null }))

/** Splits the text into utterances of whole sentences, each as long as allowed. */
function utterancesOf(text: string, language: string): string[] {
  const sentences = [...new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text)]
  const parts: string[] = []
  for (const { segment } of sentences) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + segment.length <= MAX_UTTERANCE_CHARACTERS)
      parts[parts.length - 1] = last + segment
    else parts.push(segment)
  }
  return parts.filter((part) => part.trim() !== '')
}

/** Stops at once; does nothing when nothing is being read. */
export function stopReading(): void {
  useReading.setState({ id: null })
  speechSynthesis.cancel()
}

/** Reads the text and stops the one being read. `useReading` holds `id` until it ends. */
export function readAloud(id: string, text: string, pageLanguage: string): void {
  speechSynthesis.cancel()
  const language = HAN.test(text.slice(0, 2_000)) ? 'zh-CN' : pageLanguage
  const utterances = utterancesOf(text, language).map((part) => {
    const utterance = new SpeechSynthesisUtterance(part)
    utterance.lang = language
    return utterance
  })
  const last = utterances.at(-1)
  if (last === undefined) return
  const onEnd = (): void => {
    if (useReading.getState().id === id) useReading.setState({ id: null })
  }
  last.addEventListener('end', onEnd)
  for (const utterance of utterances) utterance.addEventListener('error', onEnd)
  useReading.setState({ id })
  for (const utterance of utterances) speechSynthesis.speak(utterance)
}
