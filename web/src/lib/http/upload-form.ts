// Sends multipart form data with progress, which fetch cannot report.

import type { ErrorBody } from '../../../../server/protocol/error.ts'
import { fromHost } from '../base-path.ts'
import { ApiError, authorization, refusalOf } from './api-client.ts'
import { isBack, RESTART_LIMIT_MS } from './restart.ts'

/**
 * Sends the form, and again while the server refuses it because it is restarting. `onProgress` receives the share that has been
 * sent, from 0 to 1. Throws `ApiError`; an abort throws the signal's reason.
 */
export async function uploadForm<T>(
  address: string,
  form: FormData,
  onProgress: (part: number) => void,
  signal?: AbortSignal,
): Promise<T> {
  const until = performance.now() + RESTART_LIMIT_MS
  for (;;)
    try {
      return await uploadOnce<T>(address, form, onProgress, signal)
    } catch (error) {
      const isRestarting = error instanceof ApiError && error.reason === 'shutting_down'
      if (!isRestarting || !(await isBack(until, signal))) throw error
    }
}

async function uploadOnce<T>(
  address: string,
  form: FormData,
  onProgress: (part: number) => void,
  signal: AbortSignal | undefined,
): Promise<T> {
  const headers = await authorization()
  // Cancelled while the token was renewed, or between two uploads: no event reports that again.
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', fromHost(address))
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.responseType = 'json'
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total)
    })
    request.addEventListener('load', () => {
      const body: ({ data?: T } & Partial<ErrorBody>) | null = request.response
      if (request.status < 300 && body?.data !== undefined) resolve(body.data)
      else reject(refusalOf(request.status, body))
    })
    request.addEventListener('error', () => reject(new ApiError(0, 'offline')))
    signal?.addEventListener('abort', () => {
      request.abort()
      reject(signal.reason)
    })
    request.send(form)
  })
}
