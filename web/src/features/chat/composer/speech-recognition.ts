// The part of the Web Speech API that dictation uses; TypeScript's DOM types do not have it.

type Alternative = { transcript: string }
type Result = { isFinal: boolean; readonly [index: number]: Alternative | undefined }

/**
 * One recognition of speech, from `start` to `onend`; `abort` drops what has not been recognized
 * yet.
 */
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

// Chromium and Safari have it under the prefixed name only, Firefox not at all.
const { SpeechRecognition, webkitSpeechRecognition } = globalThis as {
  SpeechRecognition?: Recognizer
  webkitSpeechRecognition?: Recognizer
}
const Available = SpeechRecognition ?? webkitSpeechRecognition

/** Browsers give the microphone to secure origins only. */
export const canDictate = Available !== undefined && isSecureContext

/** Null in browsers that cannot recognize speech. */
export const createRecognition = (): Recognition | null =>
  Available === undefined ? null : new Available()
