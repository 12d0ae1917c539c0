// Reads texts aloud with the browser's voices.
import { create } from 'zustand'
import { languageOf } from './language-of.ts'

/** Browsers stop longer utterances in the middle. */
const MAX_UTTERANCE_CHARACTERS = 180

/** Whether the browser has speech synthesis. */
export const canReadAloud = 'speechSynthesis' in globalThis

/** The id of the text that is being read; null when none is. */
export const useReading = create<{ id: string | null }>(() => ({ id: null }))

/** What is being read. Browsers report the end of an utterance only while something refers to it. */
let utterances: readonly SpeechSynthesisUtterance[] = []

/** Splits the text into utterances of whole sentences, each as long as allowed. */
function partsOf(text: string, language: string): string[] {
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
  utterances = []
  useReading.setState({ id: null })
  speechSynthesis.cancel()
}

/** Reads the text and stops the one being read. `useReading` holds `id` until it ends. */
export function readAloud(id: string, text: string, pageLanguage: string): void {
  stopReading()
  const language = languageOf(text, pageLanguage)
  const read = partsOf(text, language).map((part) => {
    const utterance = new SpeechSynthesisUtterance(part)
    utterance.lang = language
    return utterance
  })
  if (read.length === 0) return
  utterances = read
  // Cancelled utterances report that later, when another text may be read.
  const onEnd = (): void => {
    if (utterances === read) stopReading()
  }
  read.at(-1)?.addEventListener('end', onEnd)
  for (const utterance of read) utterance.addEventListener('error', onEnd)
  // Otherwise some browsers read on after the page was closed.
  addEventListener('pagehide', stopReading)
  useReading.setState({ id })
  for (const utterance of read) speechSynthesis.speak(utterance)
}
