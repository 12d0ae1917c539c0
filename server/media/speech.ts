// What recordings say and texts read aloud, by the configured services: for people, and passed through for programs.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { appError } from '../errors.ts'
import { type AudioType, audioTypeOf } from '../lib/audio-type.ts'
import type { Amount } from '../lib/reserve-call.ts'
import type { UserId } from '../protocol/ids.ts'
import type { FormFields, SpeechBody } from '../protocol/openai/media.ts'
import type { SpeechOffer, Transcription } from '../protocol/speech.ts'
import type { MediaResponse, MediaService } from './media-service.ts'
import type { Charge, PaidCalls } from './paid-calls.ts'

/** The bytes of a second that browsers record, and at least what speech takes elsewhere. */
const BYTES_PER_SECOND = 16_000

/** 192,000 samples of two channels with 32 bits. A header that claims more would make a recording short, and cheap. */
const MAX_BYTES_PER_SECOND = 1_536_000

/** How long a recording is, if the service does not say: exact for WAV, otherwise by its size. */
export function secondsOf(bytes: Uint8Array, type: AudioType): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const rate = type === 'wav' && bytes.length >= 32 ? view.getUint32(28, true) : BYTES_PER_SECOND
  return bytes.length / Math.min(Math.max(1, rate), MAX_BYTES_PER_SECOND)
}

/** What a service charges: for tokens if it reports them, otherwise for minutes or characters. */
export interface SpeechPrice {
  currency: string
  /** For a minute of a recording. */
  minute?: number | undefined
  /** For a million characters that are read aloud. */
  characters?: number | undefined
  /** For a million tokens. */
  input?: number | undefined
  output?: number | undefined
}

/** A configured service. */
export interface SpeechService {
  model: string
  price: SpeechPrice | undefined
  send: MediaService
}

/** Speech by the configured services. */
export interface Speech {
  readonly offer: SpeechOffer
  /** The names of the models; undefined without a service. */
  readonly models: { transcribe: string | undefined; speak: string | undefined }
  /** @throws AppError `speech_off`, `audio_unknown`, or why the service or the user's budget refuses. */
  transcribe(userId: UserId, recording: Uint8Array, signal: AbortSignal): Promise<Transcription>
  /** @param voice default: the configured one. @throws AppError like `transcribe`. */
  speak(
    userId: UserId,
    wanted: { text: string; voice: string | undefined },
    signal: AbortSignal,
  ): Promise<MediaResponse>
  /** The response of the service to a program's form. */
  passTranscription(
    userId: UserId,
    kind: 'transcriptions' | 'translations',
    form: { fields: FormFields; recording: Uint8Array },
    signal: AbortSignal,
  ): Promise<MediaResponse>
  /** The response of the service to a program's request. */
  passSpeech(userId: UserId, body: SpeechBody, signal: AbortSignal): Promise<MediaResponse>
}

const TIMEOUT_MS = 120_000
const MAX_TEXT_BYTES = 5_000_000
const MAX_AUDIO_BYTES = 50_000_000
/** Bytes of texts read aloud that are kept, so that hearing one again costs nothing. */
const CACHE_BYTES = 64_000_000

const count = z.number().min(0).catch(0)
const Answer = z.object({
  text: z.string(),
  language: z.string().nullish().catch(null),
  duration: z.coerce.number().min(0).nullish().catch(null),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      seconds: z.number().nullish().catch(null),
    })
    .nullish()
    .catch(null),
})
type Usage = z.infer<typeof Answer>['usage']

/** Models that only answer in the short form, which has no duration. */
const SHORT_FORM = /^gpt-|-transcribe/

/** The charge for a recording or a text, by what the service reports of it. */
function chargeOf(
  price: SpeechPrice | undefined,
  { seconds = 0, characters = 0, usage }: { seconds?: number; characters?: number; usage?: Usage },
): Charge {
  const [input, output] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0]
  if (price === undefined) return { input, output, cost: 0, currency: '' }
  const hasRates = input + output > 0 && (price.input ?? price.output) !== undefined
  const cost = hasRates
    ? (input * (price.input ?? 0) + output * (price.output ?? 0)) / 1e6
    : (seconds / 60) * (price.minute ?? 0) + (characters / 1e6) * (price.characters ?? 0)
  return { input, output, cost, currency: price.currency }
}

const estimateOf = ({ cost, currency }: Charge): Amount => ({ tokens: 0, cost, currency })

const form = (fields: FormFields, recording: Uint8Array, type: AudioType): FormData => {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.append(name, value)
  const blob = new Blob([new Uint8Array(recording)], { type: `audio/${type}` })
  made.append('file', blob, `recording.${type}`)
  return made
}

function parseAnswer(body: Buffer): z.infer<typeof Answer> | null {
  try {
    return Answer.safeParse(JSON.parse(body.toString())).data ?? null
  } catch {
    return null // the service may answer with a text, such as subtitles
  }
}

function typeOrThrow(recording: Uint8Array): AudioType {
  const type = audioTypeOf(recording)
  if (type === undefined) throw appError('audio_unknown')
  return type
}

const orOff = (service: SpeechService | undefined): SpeechService => {
  if (service === undefined) throw appError('speech_off')
  return service
}

/** @param services those that are configured. */
export function createSpeech(
  services: { transcribe: SpeechService | undefined; speak: SpeechService | undefined },
  voice: string,
  paid: PaidCalls,
): Speech {
  const spoken = new LRUCache<string, MediaResponse>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ body }) => body.length,
  })

  /** Sends a recording. Its charge is computed from what the service says of it, if it says it in JSON. */
  async function sendRecording(
    userId: UserId,
    service: SpeechService,
    path: string,
    { fields, recording }: { fields: FormFields; recording: Uint8Array },
    signal: AbortSignal,
  ): Promise<MediaResponse> {
    const { model, price, send } = service
    const type = typeOrThrow(recording)
    const seconds = secondsOf(recording, type)
    const estimate = estimateOf(chargeOf(price, { seconds }))
    return await paid.pay(userId, model, estimate, signal, async () => {
      const body = form({ ...fields, model }, recording, type)
      const result = await send(
        (client, aborted) => client.post(path, { body, signal: aborted }).asResponse(),
        { signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_TEXT_BYTES },
      )
      const answer = parseAnswer(result.body)
      const heard = answer?.duration ?? answer?.usage?.seconds ?? seconds
      return { result, charge: chargeOf(price, { seconds: heard, usage: answer?.usage }) }
    })
  }

  async function sendText(
    userId: UserId,
    { model, price, send }: SpeechService,
    body: Omit<SpeechBody, 'model'> & { input: string },
    signal: AbortSignal,
  ): Promise<MediaResponse> {
    const charge = chargeOf(price, { characters: body.input.length })
    return await paid.pay(userId, model, estimateOf(charge), signal, async () => {
      const result = await send(
        (client, aborted) =>
          client
            .post('/audio/speech', { body: { voice, ...body, model }, signal: aborted })
            .asResponse(),
        { signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_AUDIO_BYTES },
      )
      return { result, charge }
    })
  }

  return {
    offer: {
      transcribe: services.transcribe !== undefined,
      speak: services.speak !== undefined,
    },
    models: { transcribe: services.transcribe?.model, speak: services.speak?.model },

    async transcribe(userId, recording, signal) {
      const service = orOff(services.transcribe)
      const format = SHORT_FORM.test(service.model) ? 'json' : 'verbose_json'
      const fields = { response_format: format }
      const sent = { fields, recording }
      const { body } = await sendRecording(userId, service, '/audio/transcriptions', sent, signal)
      const answer = parseAnswer(body)
      if (answer === null) throw appError('media_failed', { model: service.model })
      const { text, language, duration, usage } = answer
      return {
        text: text.trim(),
        ...(language == null ? {} : { language }),
        seconds: duration ?? usage?.seconds ?? secondsOf(recording, typeOrThrow(recording)),
      }
    },

    async speak(userId, { text, voice: chosen = voice }, signal) {
      const service = orOff(services.speak)
      const name = JSON.stringify([service.model, chosen, text])
      const key = createHash('sha256').update(name).digest('base64url')
      const kept = spoken.get(key)
      if (kept !== undefined) return kept
      const wanted = { input: text, voice: chosen, response_format: 'mp3' }
      const { body } = await sendText(userId, service, wanted, signal)
      if (audioTypeOf(body) !== 'mp3') throw appError('media_failed', { model: service.model })
      const made = { body, contentType: 'audio/mpeg' }
      spoken.set(key, made)
      return made
    },

    async passTranscription(userId, kind, sent, signal) {
      const service = orOff(services.transcribe)
      return await sendRecording(userId, service, `/audio/${kind}`, sent, signal)
    },

    async passSpeech(userId, { model: _name, ...body }, signal) {
      return await sendText(userId, orOff(services.speak), body, signal)
    },
  }
}
