// The part of the Web Speech API that dictation uses, which TypeScript's DOM types lack.

type Alternative = { transcript: string }
type Result = { isFinal: boolean; readonly [index: number]: Alternative | undefined }

/** A speech recognition, from `start` to `onend`. `abort` drops speech that has not been recognized yet. */
export type Recognition = {
  lang: string
  continuous: boolean
  onresult: ((event: { resultIndex: number; results: Iterable<Result> }) => void) | null
  onerror: ((event: { error: string }) => void) | null
  onend: (() => void) | null
  start(): void
  stop(): void
  abort(): void
}

type Recognizer = new () => Recognition

// Chromium and Safari have only the prefixed name, Firefox has neither.
const { SpeechRecognition, webkitSpeechRecognition } = globalThis as {
  SpeechRecognition?: Recognizer
  webkitSpeechRecognition?: Recognizer
}
const Available = SpeechRecognition ?? webkitSpeechRecognition

/** Whether the browser recognizes speech itself. It allows the microphone only on secure origins. */
export const canRecognize = Available !== undefined && isSecureContext

/** Creates a recognition; null if the browser cannot recognize speech. */
export const createRecognition = (): Recognition | null =>
  Available === undefined ? null : new Available()
