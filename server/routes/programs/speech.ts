// Routes for dictation and reading aloud.
import multipart from '@fastify/multipart'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { byteRangeOf } from '../../http/byte-range.ts'
import { envelope } from '../../protocol/envelope.ts'
import { MAX_RECORDING_BYTES, SpeakBody, Transcription } from '../../protocol/speech.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { readFile } from '../files/receive-upload.ts'
import { untilClientLeaves } from './program-runs.ts'
import { wholeFile } from './whole-file.ts'

const tags = ['speech']

/** `/api/speech` and `/api/speech/transcriptions`. */
export function registerSpeechRoutes(
  app: App,
  { speech, uploadSlots }: Pick<Services, 'speech' | 'uploadSlots'>,
): void {
  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: { fileSize: MAX_RECORDING_BYTES, files: 1, fields: 5, fieldSize: 1_000, parts: 6 },
      throwFileSizeLimit: false,
    })
    scope.post(
      '/api/speech/transcriptions',
      {
        config: { oneFile: true },
        schema: {
          summary: 'Transcribe a recording with the configured service (multipart: `file`)',
          description:
            'WebM, Ogg, MP4, M4A, MP3, WAV or FLAC, recognized by their content, of at most 25 MB. Nothing is stored.',
          tags,
          consumes: ['multipart/form-data'],
          response: { 200: envelope(Transcription) },
        },
      },
      async (request, reply) => {
        if (!speech.offer.transcribe) throw appError('speech_off')
        const { id } = request.user
        const heard = await uploadSlots.runInMemory(id, async () => {
          const recording = await readFile(request, wholeFile)
          return await speech.transcribe(id, recording, untilClientLeaves(reply))
        })
        return success(heard)
      },
    )
  })

  app.post(
    '/api/speech',
    {
      schema: {
        summary: 'Read a text aloud with the configured service; responds with MP3',
        description: 'A text that has been read before is kept for a while. Supports `Range`.',
        tags,
        body: SpeakBody,
      },
    },
    async ({ user, body, headers }, reply) => {
      const wanted = { text: body.text, voice: body.voice }
      const made = await speech.speak(user.id, wanted, untilClientLeaves(reply))
      const size = made.body.length
      const range = byteRangeOf(headers.range, size)
      void reply.type(made.contentType).header('accept-ranges', 'bytes')
      if (range === 'unsatisfiable')
        return reply.code(416).header('content-range', `bytes */${size}`).send()
      if (range === 'whole') return reply.send(made.body)
      return reply
        .code(206)
        .header('content-range', `bytes ${range.start}-${range.end - 1}/${size}`)
        .send(made.body.subarray(range.start, range.end))
    },
  )
}
