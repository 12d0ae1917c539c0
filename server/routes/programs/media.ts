// Routes for speech and images in OpenAI's format: requests go to the configured services, and their responses back as they are.
import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import type { MediaResponse } from '../../media/media-service.ts'
import type { ProgramImages, SentImage } from '../../media/program-images.ts'
import { programModelName, readModelName } from '../../openai-api/names.ts'
import type { UserId } from '../../protocol/ids.ts'
import { FormFields, ImageBody, SpeechBody } from '../../protocol/openai/media.ts'
import { MAX_RECORDING_BYTES } from '../../protocol/speech.ts'
import type { Services } from '../../services.ts'
import { readUpload } from '../files/receive-upload.ts'
import { untilClientLeaves } from './program-runs.ts'
import { wholeFile } from './whole-file.ts'

const tags = ['openai']
type MediaServices = Pick<Services, 'speech' | 'programImages' | 'uploadSlots' | 'registry'>

const send = (reply: FastifyReply, { body, contentType }: MediaResponse): FastifyReply =>
  reply
    .type(contentType)
    .header('content-security-policy', "default-src 'none'; sandbox")
    .send(body)

/** @throws AppError for the name of another model than the configured one. */
function checkModel(name: string | undefined, configured: string): void {
  if (name === undefined || readModelName(name).id === configured) return
  throw appError('unknown_model', { model: name, available: [programModelName(configured)] })
}

/**
 * The service for images. The tool is what operators and groups switch off.
 * @throws AppError `images_off` if there is none, `images_not_allowed` if the user may not use it.
 */
function imagesFor(
  userId: UserId,
  { programImages, registry }: Pick<MediaServices, 'programImages' | 'registry'>,
): ProgramImages {
  if (programImages === undefined) throw appError('images_off')
  if (registry.snapshot(userId).get('generate_image') === undefined)
    throw appError('images_not_allowed')
  return programImages
}

/** The fields and files of a form. */
async function readForm(
  request: FastifyRequest,
): Promise<{ fields: FormFields; files: SentImage[] }> {
  return await readUpload(request, async (read) => {
    const fields: Record<string, unknown> = {}
    const files: SentImage[] = []
    for await (const part of read()) {
      if (part.type === 'field') fields[part.fieldname] = part.value
      else {
        const { fieldname: field, filename: name, mimetype: mime } = part
        files.push({ field, name, mime, bytes: await wholeFile(part) })
      }
    }
    const checked = FormFields.safeParse(fields)
    if (!checked.success) throw appError('multipart_broken')
    return { fields: checked.data, files }
  })
}

/** `/v1/audio/…` and `/v1/images/…`. */
export function registerMediaRoutes(app: App, services: MediaServices): void {
  const { speech } = services
  app.register(async (plain) => {
    const scope = plain.withTypeProvider<ZodTypeProvider>()
    await scope.register(multipart, {
      limits: {
        fileSize: MAX_RECORDING_BYTES,
        files: 4,
        fields: 30,
        fieldSize: 32_000,
        parts: 34,
      },
      throwFileSizeLimit: false,
    })
    registerForms(scope, services)
  })

  app.post(
    '/v1/audio/speech',
    {
      schema: {
        summary: 'Read a text aloud with the configured service, in the format of OpenAI',
        tags,
        body: SpeechBody,
      },
    },
    async ({ user, body }, reply) => {
      const { speak } = speech.models
      if (speak === undefined) throw appError('speech_off')
      checkModel(body.model, speak)
      return send(reply, await speech.passSpeech(user.id, body, untilClientLeaves(reply)))
    },
  )

  app.post(
    '/v1/images/generations',
    {
      schema: {
        summary: 'Create images with the configured service, in the format of OpenAI',
        tags,
        body: ImageBody,
      },
    },
    async ({ user, body }, reply) => {
      const images = imagesFor(user.id, services)
      checkModel(body.model, images.model)
      return send(reply, await images.generate(user.id, body, untilClientLeaves(reply)))
    },
  )
}

function registerForms(app: App, services: MediaServices): void {
  const { speech, uploadSlots } = services
  for (const kind of ['transcriptions', 'translations'] as const)
    app.post(
      `/v1/audio/${kind}`,
      {
        schema: {
          summary: `Send a recording to the configured service (multipart: \`file\`, \`model\`), in the format of OpenAI: ${kind}`,
          tags,
          consumes: ['multipart/form-data'],
        },
      },
      async (request, reply) => {
        const { transcribe } = speech.models
        if (transcribe === undefined) throw appError('speech_off')
        const { id } = request.user
        const heard = await uploadSlots.runInMemory(id, async () => {
          const { fields, files } = await readForm(request)
          checkModel(fields.model, transcribe)
          const recording = files.find(({ field }) => field === 'file')?.bytes
          if (recording === undefined) throw appError('file_missing')
          const form = { fields, recording }
          return await speech.passTranscription(id, kind, form, untilClientLeaves(reply))
        })
        return send(reply, heard)
      },
    )

  app.post(
    '/v1/images/edits',
    {
      schema: {
        summary:
          'Edit images with the configured service (multipart: `image`, `prompt`), in the format of OpenAI',
        tags,
        consumes: ['multipart/form-data'],
      },
    },
    async (request, reply) => {
      const { id } = request.user
      const service = imagesFor(id, services)
      const edited = await uploadSlots.runInMemory(id, async () => {
        const { fields, files: images } = await readForm(request)
        checkModel(fields.model, service.model)
        if (images.length === 0) throw appError('file_missing')
        return await service.edit(id, { fields, images }, untilClientLeaves(reply))
      })
      return send(reply, edited)
    },
  )
}
