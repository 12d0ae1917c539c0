// Speech and images by configured services that speak OpenAI's format.
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { serviceBase } from '../net/openai-service.ts'
import { createMediaService } from './media-service.ts'
import type { PaidCalls } from './paid-calls.ts'
import { createProgramImages, type ProgramImagePrice } from './program-images.ts'
import { createSpeech, type SpeechPrice, type SpeechService } from './speech.ts'

const ENDPOINTS = ['/audio/transcriptions', '/audio/speech', '/images/generations', '/images/edits']

/** A service as operators configure it. */
interface ConfiguredService {
  api_url: string
  api_key?: string | undefined
  model: string
}
type ConfiguredSpeech = ConfiguredService & { price?: SpeechPrice | undefined }

/** The services that are configured. */
interface MediaSettings {
  transcribe: ConfiguredSpeech | undefined
  speak: (ConfiguredSpeech & { voice: string }) | undefined
  images:
    | (ConfiguredService & { price?: ProgramImagePrice | undefined; timeout: number })
    | undefined
}

/** Speech; and images for programs, undefined if no service for them is configured. */
export function createMedia(
  { transcribe, speak, images }: MediaSettings,
  { paid, fetch }: { paid: PaidCalls; fetch: GuardedFetch },
) {
  const serviceOf = (settings: ConfiguredService) =>
    createMediaService(
      {
        apiUrl: serviceBase(settings.api_url, ENDPOINTS),
        apiKey: settings.api_key,
        model: settings.model,
      },
      fetch,
    )
  const speechService = (settings: ConfiguredSpeech | undefined): SpeechService | undefined =>
    settings === undefined
      ? undefined
      : { model: settings.model, price: settings.price, send: serviceOf(settings) }
  return {
    speech: createSpeech(
      { transcribe: speechService(transcribe), speak: speechService(speak) },
      speak?.voice ?? '',
      paid,
    ),
    programImages:
      images === undefined
        ? undefined
        : createProgramImages({
            model: images.model,
            price: images.price,
            timeoutMs: images.timeout * 1_000,
            send: serviceOf(images),
            paid,
          }),
  }
}
