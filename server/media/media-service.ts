// Requests to a configured service for speech or images. Its refusals become errors that say what it said, without its key.
import type OpenAI from 'openai'
import { AppError, appError, errorText } from '../errors.ts'
import { statusFailure } from '../llm/failure.ts'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import {
  type OpenAiService,
  openAiClient,
  type ServiceLimits,
  serviceFault,
} from '../net/openai-service.ts'

/** A response as the service sent it. */
export interface MediaResponse {
  body: Buffer
  contentType: string
}

/** Sends one request. @throws AppError that names the model. */
export type MediaService = (
  send: (client: OpenAI, signal: AbortSignal) => Promise<Response>,
  limits: ServiceLimits,
) => Promise<MediaResponse>

/** @param settings.model the name of the model in errors. */
export function createMediaService(
  settings: OpenAiService & { model: string },
  fetch: GuardedFetch,
): MediaService {
  const { model, apiKey } = settings
  return async (send, limits) => {
    try {
      const client = await openAiClient(settings, fetch, limits)
      const response = await send(client, limits.signal)
      return {
        body: Buffer.from(await response.arrayBuffer()),
        contentType: response.headers.get('content-type') ?? 'application/octet-stream',
      }
    } catch (error) {
      if (limits.signal.aborted || error instanceof AppError) throw error
      const fault = await serviceFault(error)
      if (fault?.kind !== 'refused')
        throw appError('media_failed', { model }, { cause: new Error(errorText(fault ?? error)) })
      const { status, body } = fault
      throw statusFailure({ status, body }, { model, apiKey })
    }
  }
}
