// The `generate_image` tool: creates or edits an image through a configured service, and adds it to the answer.
import { z } from 'zod'
import { appError } from '../../../errors.ts'
import { withoutNul } from '../../../protocol/envelope.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { parseInnerPath } from '../../../workspace/files/paths.ts'
import type { WorkspaceServices } from '../../../workspace/workspace-services.ts'
import {
  defineTool,
  fail,
  succeed,
  type ToolContext,
  type ToolDefinition,
} from '../../definition.ts'
import type { ProducedFile } from '../../spending.ts'
import {
  originOf,
  pathKey,
  workspaceForChange,
  workspaceForPreview,
} from '../files/project-access.ts'
import type { ImagesApi, ImageTokens } from './images-api.ts'

/** An image that a call starts from. */
export interface InputImage {
  name: string
  mime: string
  bytes: Uint8Array
}

/** What the `generate_image` tool needs from the server. */
export interface GenerateImageDependencies {
  generate: ImagesApi
  /** The name under which the user's usage lists the requests. */
  model: string
  price: ImagePrice | null
  /** How long one request may take. */
  timeoutMs: number
  services: WorkspaceServices
  /** Finds the image that a model names by id or by the name of a file of the conversation; null if there is none. */
  findImage(context: ToolContext, reference: string): Promise<InputImage | null>
  /**
   * Stores an image without its metadata, under the rules for uploads. Appends the extension of its type to `name`.
   * @throws AppError also if the bytes are not an image.
   */
  store(userId: UserId, name: string, bytes: Uint8Array): Promise<StoredImage>
}

/** An image that a call has generated, stored as one of the user's files. */
export interface StoredImage extends ProducedFile {
  width: number | null
  height: number | null
  /** Reads the stored bytes, for a copy in the project. */
  read(): Promise<Uint8Array>
}

/** How a model refers to the newest image of the conversation, whose name it may not know. */
export const NEWEST_IMAGE = 'newest'

/** Per token if the service reports tokens, otherwise per image. */
export interface ImagePrice {
  currency: string
  /** Price of one image. */
  image?: number | undefined
  /** Price of a million tokens. */
  input?: number | undefined
  output?: number | undefined
}

const MAX_PROMPT_CHARACTERS = 32_000
const MAX_INPUT_IMAGES = 4
const MAX_INPUT_BYTES = 50_000_000
/** Time to store the image and its copy, in addition to the time of the request. */
const STORE_TIMEOUT_MS = 60_000

const Input = z.object({
  prompt: withoutNul(z.string().trim().min(1).max(MAX_PROMPT_CHARACTERS)),
  images: z
    .array(withoutNul(z.string().min(1).max(1_000)))
    .max(MAX_INPUT_IMAGES)
    .default([])
    .describe(
      `To edit: "${NEWEST_IMAGE}" for the newest image of the conversation, names of attached files, file_ids of earlier results, or project paths.`,
    ),
  size: z
    .string()
    .regex(/^(auto|\d{2,5}x\d{2,5})$/, { error: 'auto, or width x height such as 1024x1024' })
    .optional(),
  quality: z.string().max(20).optional().describe('Such as low, medium, high.'),
  background: z.enum(['auto', 'transparent', 'opaque']).optional(),
  save_as: withoutNul(z.string().min(1).max(4096))
    .optional()
    .describe('Project path for a copy, only if the user wants one.'),
})

/** The tool `generate_image`. */
export function createGenerateImageTool(dependencies: GenerateImageDependencies): ToolDefinition {
  const { generate, model, price, services, findImage, store } = dependencies
  return defineTool({
    name: 'generate_image',
    description:
      'Creates an image from a description, or edits images. The user sees it in the answer; do not repeat or link it.',
    category: 'basic',
    riskLevel: 'medium',
    timeoutMs: dependencies.timeoutMs + STORE_TIMEOUT_MS,
    changesProject: true,
    input: Input,
    orderKey: ({ save_as }) => (save_as === undefined ? null : pathKey(save_as)),
    async preview({ prompt, images, save_as }) {
      const lines = [prompt, ...images.map((name) => `+ ${name}`)]
      if (save_as !== undefined) lines.push(`→ ${save_as}`)
      return {
        display: `Create an image with ${model}:\n${lines.join('\n')}`,
        display_code: 'image',
        display_params: { model, content: lines.join('\n') },
      }
    },
    async handler({ prompt, images, size, quality, background, save_as }, context) {
      // Check everything that can be refused before anything is paid for.
      const target = save_as === undefined ? null : await freePath(services, save_as, context)
      const inputs = await inputsOf(findImage, images, context)
      if (typeof inputs === 'string') return fail(inputs)
      const booking = await context.spending.admit(costOf(price, null))
      if (booking === null)
        return fail('A limit on tokens or cost is used up, so no image was created.')
      try {
        const made = await generate(
          { prompt, size, quality, background, images: inputs },
          context.signal,
        )
        if (!made.ok)
          return fail(
            made.refusal ? `The image service rejected this request: ${made.error}` : made.error,
          )
        const charge = { model, ...costOf(price, made.tokens) }
        const image = await store(context.userId, nameOf(target ?? prompt), made.bytes).catch(
          async (error: unknown) => {
            // The request is paid for, although the image cannot be shown.
            await booking.book(charge, [])
            throw error
          },
        )
        await booking.book(charge, [image])
        const path = target === null ? null : await saveCopy(services, target, image, context)
        const { width, height } = image
        return succeed(
          {
            file_id: image.id,
            name: image.name,
            width,
            height,
            ...(path === null ? {} : { path }),
            ...(made.revisedPrompt === null ? {} : { revised_prompt: made.revisedPrompt }),
          },
          {
            display: image.name,
            files: [{ name: image.name, mime: image.mime, size: image.size, file_id: image.id }],
          },
        )
      } finally {
        booking.release()
      }
    },
  })
}

/** The images that a model named, or an error text that lists the missing ones. */
async function inputsOf(
  findImage: GenerateImageDependencies['findImage'],
  references: readonly string[],
  context: ToolContext,
): Promise<InputImage[] | string> {
  const found: InputImage[] = []
  let bytes = 0
  for (const reference of references) {
    const image = await findImage(context, reference)
    if (image === null)
      return `There is no image ${JSON.stringify(reference)} in this conversation or its project.`
    bytes += image.bytes.length
    if (bytes > MAX_INPUT_BYTES) return `The images have more than ${MAX_INPUT_BYTES / 1e6} MB.`
    found.push(image)
  }
  return found
}

/**
 * Where to write a copy. Makes nothing: a conversation without a project gets files of its own when the image is there.
 * @throws AppError without a place for files, or if the file already exists: nothing is overwritten.
 */
async function freePath(
  services: WorkspaceServices,
  path: string,
  context: ToolContext,
): Promise<string> {
  const inner = parseInnerPath(path).text
  const workspace = await workspaceForPreview(services, context)
  if ((await workspace.state(inner)) !== null) throw appError('path_taken', { path: inner })
  return inner
}

async function saveCopy(
  services: WorkspaceServices,
  path: string,
  image: StoredImage,
  context: ToolContext,
): Promise<string> {
  const bytes = await image.read()
  const workspace = await workspaceForChange(services, context)
  await services.checkpoints.change(workspace, originOf('generate_image', context), [path], () =>
    workspace.write(path, bytes, { expected: '' }),
  )
  return path
}

/** @param tokens null if not known, as before the request. */
function costOf(price: ImagePrice | null, tokens: ImageTokens | null) {
  const counts = { promptTokens: tokens?.input ?? 0, completionTokens: tokens?.output ?? 0 }
  if (price === null) return { ...counts, currency: '', cost: 0 }
  const { currency, image = 0, input, output } = price
  const hasRates = tokens !== null && (input !== undefined || output !== undefined)
  const cost = hasRates
    ? (tokens.input * (input ?? 0) + tokens.output * (output ?? 0)) / 1e6
    : image
  return { ...counts, currency, cost }
}

const NAME_CHARACTERS = 40

/** A file name without extension, from a path or from the first words of a prompt. */
function nameOf(text: string): string {
  const last = text.split('/').at(-1) ?? ''
  const words = last
    .replace(/\.[a-z]{3,4}$/i, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  const short = [...words].slice(0, NAME_CHARACTERS).join('').trim()
  return short === '' ? 'image' : short.replaceAll(' ', '-')
}
