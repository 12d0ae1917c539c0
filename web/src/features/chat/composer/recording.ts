// Records the microphone, for the server's service that transcribes.

/** What browsers record, in the order of preference: Chromium and Firefox WebM, Safari MP4. The server knows all of them. */
const TYPES = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus']
/** Plenty for speech: 15 minutes take 3.6 MB. */
const BITS_PER_SECOND = 32_000
/** Longer than anybody dictates; a forgotten recording ends, and what was said is transcribed. */
const MAX_MS = 15 * 60_000

/** Whether recordings can be made. Browsers allow the microphone only on secure origins. */
export const canRecord =
  isSecureContext && 'MediaRecorder' in globalThis && navigator.mediaDevices !== undefined

/** A recording in progress. */
export interface Recording {
  /** Resolves with the sound when the recording has ended, by itself or by `stop`. Null if it was dropped. */
  readonly sound: Promise<Blob | null>
  stop(): void
  /** Ends it without a result. */
  drop(): void
}

/** Begins to record. @throws DOMException `NotAllowedError` if the person or the browser refuses, `NotFoundError` without a microphone. */
export async function startRecording(): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: true, noiseSuppression: true },
  })
  // Otherwise the browser goes on showing that the page listens.
  const release = (): void => {
    for (const track of stream.getTracks()) track.stop()
  }
  try {
    return record(stream, release)
  } catch (error) {
    release()
    throw error
  }
}

/** @param release lets go of the microphone. */
function record(stream: MediaStream, release: () => void): Recording {
  const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type))
  const recorder = new MediaRecorder(stream, {
    ...(mimeType === undefined ? {} : { mimeType }),
    audioBitsPerSecond: BITS_PER_SECOND,
  })
  const pieces: Blob[] = []
  let isDropped = false
  const end = (): void => {
    if (recorder.state !== 'inactive') recorder.stop()
  }
  const timer = setTimeout(end, MAX_MS)
  const sound = new Promise<Blob | null>((resolve) => {
    recorder.ondataavailable = ({ data }) => pieces.push(data)
    recorder.onstop = () => {
      clearTimeout(timer)
      release()
      resolve(isDropped ? null : new Blob(pieces, { type: recorder.mimeType }))
    }
  })
  recorder.start()
  return {
    sound,
    stop: end,
    drop() {
      isDropped = true
      end()
    },
  }
}
