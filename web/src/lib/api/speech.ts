// The server's services for speech: what recordings say, and texts read aloud.
import type { Transcription } from '../../../../server/protocol/speech.ts'
import { request, send } from '../http/api-client.ts'

/** What a recording says. The server recognizes its format by the content. */
export async function transcribe(recording: Blob): Promise<string> {
  const form = new FormData()
  form.append('file', recording, 'recording')
  const { text } = await request<Transcription>('/api/speech/transcriptions', {
    method: 'POST',
    body: form,
  })
  return text
}

/** A text of at most 4,096 characters, read aloud as MP3. */
export async function speak(text: string, signal: AbortSignal): Promise<Blob> {
  const response = await send('/api/speech', { method: 'POST', body: { text }, signal })
  return await response.blob()
}
