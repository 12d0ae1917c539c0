// Reads texts aloud: with a service of the server if it has one, otherwise with the browser's voices.
import { create } from 'zustand'
import { languageOf } from './language-of.ts'

/** Browsers stop longer utterances in the middle. */
const MAX_UTTERANCE_CHARACTERS = 180
/** The first part that a service speaks is short, so that it begins soon. */
const FIRST_PART_CHARACTERS = 250
const MAX_PART_CHARACTERS = 1_500

/** Speaks a text of at most 1,500 characters. */
export type Speak = (text: string, signal: AbortSignal) => Promise<Blob>

/** Whether the browser has speech synthesis. */
export const canReadAloud = 'speechSynthesis' in globalThis

/** The id of the text that is being read; null when none is. */
export const useReading = create<{ id: string | null }>(() => ({ id: null }))

/** The reading in progress; ends with its abort. */
let reading = new AbortController()

/** Splits the text into parts of whole sentences, each as long as allowed. */
function partsOf(text: string, language: string, limit: (index: number) => number): string[] {
  const parts: string[] = []
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text))
    for (const piece of piecesOf(segment, limit(parts.length))) {
      const last = parts.at(-1)
      if (last !== undefined && last.length + piece.length <= limit(parts.length - 1))
        parts[parts.length - 1] = last + piece
      else parts.push(piece)
    }
  return parts.filter((part) => part.trim() !== '')
}

/** A sentence, in pieces if it is longer than a part may be. */
const piecesOf = (sentence: string, most: number): string[] =>
  sentence.length <= most
    ? [sentence]
    : (sentence.match(new RegExp(`.{1,${most}}(?:\\s|$)|.{1,${most}}`, 'gsu')) ?? [])

/** Stops at once; does nothing when nothing is being read. */
export function stopReading(): void {
  reading.abort()
  useReading.setState({ id: null })
}

/**
 * Reads the text and stops the one being read. `useReading` holds `id` until it ends. Call it in the handler of a click:
 * otherwise browsers do not play sound.
 * @param speak the service of the server; null without one. If it fails, the browser's voices go on.
 * @param onFailure called if nothing can read the rest.
 */
export function readAloud(
  { id, text }: { id: string; text: string },
  pageLanguage: string,
  speak: Speak | null,
  onFailure: (error: unknown) => void,
): void {
  stopReading()
  const language = languageOf(text, pageLanguage)
  const controller = new AbortController()
  reading = controller
  const { signal } = controller
  // Otherwise some browsers read on after the page was closed.
  addEventListener('pagehide', stopReading)
  useReading.setState({ id })
  const readOn = async (): Promise<void> => {
    const rest = speak === null ? { text } : await playService(text, language, speak, signal)
    if (rest === null || signal.aborted) return
    if (!canReadAloud) throw rest.error
    await sayInBrowser(rest.text, language, signal)
  }
  readOn()
    .catch((error: unknown) => {
      if (!signal.aborted) onFailure(error)
    })
    .finally(() => {
      // A stopped reading ends later, when another text may be read.
      if (reading === controller) stopReading()
    })
}

/** Resolves when everything was read: to null, or to what the service could not read and why. */
async function playService(
  text: string,
  language: string,
  speak: Speak,
  signal: AbortSignal,
): Promise<{ text: string; error?: unknown } | null> {
  const player = new Audio()
  // Safari lets an element play later only if it was used in the handler of the click.
  player.load()
  signal.addEventListener('abort', () => player.pause())
  const parts = partsOf(text, language, (index) =>
    index === 0 ? FIRST_PART_CHARACTERS : MAX_PART_CHARACTERS,
  )
  const asked: Promise<Blob>[] = []
  /** Each part is requested while the one before it is played. */
  const ask = (index: number): Promise<Blob> | undefined => {
    const part = parts[index]
    if (part === undefined) return undefined
    asked[index] ??= speak(part, signal)
    asked[index].catch(() => undefined) // reported when its turn comes
    return asked[index]
  }
  for (const index of parts.keys()) {
    try {
      const sound = await ask(index)
      if (sound === undefined || signal.aborted) return null
      void ask(index + 1)
      await play(player, sound, signal)
    } catch (error) {
      return { text: parts.slice(index).join(''), error }
    }
  }
  return null
}

/** Resolves when the sound ends or is stopped. */
async function play(player: HTMLAudioElement, sound: Blob, signal: AbortSignal): Promise<void> {
  const address = URL.createObjectURL(sound)
  try {
    await new Promise<void>((resolve, reject) => {
      player.onended = () => resolve()
      player.onerror = () => reject(new Error('the sound cannot be played'))
      signal.addEventListener('abort', () => resolve(), { once: true })
      player.src = address
      player.play().catch(reject)
    })
  } finally {
    URL.revokeObjectURL(address)
  }
}

/** Resolves when everything was said or the reading was stopped. */
function sayInBrowser(text: string, language: string, signal: AbortSignal): Promise<void> {
  const utterances = partsOf(text, language, () => MAX_UTTERANCE_CHARACTERS).map((part) => {
    const utterance = new SpeechSynthesisUtterance(part)
    utterance.lang = language
    return utterance
  })
  return new Promise<void>((resolve) => {
    const end = (): void => {
      // Browsers report the end of an utterance only while something refers to it.
      utterances.length = 0
      speechSynthesis.cancel()
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
    if (utterances.length === 0) return end()
    utterances.at(-1)?.addEventListener('end', end)
    for (const utterance of utterances) utterance.addEventListener('error', end)
    for (const utterance of utterances) speechSynthesis.speak(utterance)
  })
}
