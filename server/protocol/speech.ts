// Speech on the wire: what a recording says, and texts that are read aloud.
import { z } from 'zod'
import { optional, withoutNul } from './envelope.ts'

/** Bytes of a recording, as OpenAI limits them. */
export const MAX_RECORDING_BYTES = 25_000_000

/** The response of `POST /api/speech/transcriptions`. */
export const Transcription = z
  .object({
    text: z.string(),
    language: z.string().optional(),
    /** As the service reports it, otherwise estimated by the size. */
    seconds: z.number(),
  })
  .meta({ id: 'Transcription' })
export type Transcription = z.infer<typeof Transcription>

/** The body of `POST /api/speech`. */
export const SpeakBody = z
  .object({
    text: withoutNul(z.string().trim().min(1).max(4_096)),
    voice: optional(withoutNul(z.string().min(1).max(100))),
  })
  .meta({ id: 'Speak' })
export type SpeakBody = z.infer<typeof SpeakBody>

/** Which services for speech this server has. */
export const SpeechOffer = z.object({ transcribe: z.boolean(), speak: z.boolean() })
export type SpeechOffer = z.infer<typeof SpeechOffer>
