// Speech and images by configured services that speak OpenAI's format.
import type { AppError } from '../errors.ts'
import type { CallBudgets } from '../lib/reserve-call.ts'
import { createMediaService } from '../media/media-service.ts'
import { createPaidCalls } from '../media/paid-calls.ts'
import { createProgramImages } from '../media/program-images.ts'
import { createSpeech, type SpeechPrice, type SpeechService } from '../media/speech.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { serviceBase } from '../net/openai-service.ts'
import type { UserId } from '../protocol/ids.ts'
import type { Base } from './base.ts'

const ENDPOINTS = ['/audio/transcriptions', '/audio/speech', '/images/generations', '/images/edits']

/** Speech; and images for programs, undefined if no service for them is configured. */
export function createMedia(
  { config, database, store, now }: Base,
  { budgets, fetch }: { budgets: CallBudgets<UserId, AppError>; fetch: GuardedFetch },
) {
  const { speech, image_generation: images } = config
  const paid = createPaidCalls({ database, store, budgets, now })
  const serviceOf = (settings: { api_url: string; api_key?: string | undefined; model: string }) =>
    createMediaService(
      {
        apiUrl: serviceBase(settings.api_url, ENDPOINTS),
        apiKey: settings.api_key,
        model: settings.model,
      },
      fetch,
    )
  const speechService = (
    settings: (Parameters<typeof serviceOf>[0] & { price?: SpeechPrice | undefined }) | undefined,
  ): SpeechService | undefined =>
    settings === undefined
      ? undefined
      : { model: settings.model, price: settings.price, send: serviceOf(settings) }
  return {
    speech: createSpeech(
      { transcribe: speechService(speech.transcribe), speak: speechService(speech.speak) },
      speech.speak?.voice ?? '',
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
