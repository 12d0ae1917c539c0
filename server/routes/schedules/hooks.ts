// The route by which other programs start a schedule: the address holds the secret, and the body is text from outside.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { envelope } from '../../protocol/envelope.ts'
import { StartedOccurrence } from '../../protocol/schedules/schedule.ts'
import type { HookRequest, Hooks } from '../../schedules/hooks.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

const MAX_BODY_BYTES = 256 * 1024
const Params = z.object({ token: z.string().max(200) })
const OTHER_METHODS = ['GET', 'PUT', 'PATCH', 'DELETE'] as const

/** `/hooks/:token`. */
export function registerHookRoutes(app: App, { hooks }: Pick<Services, 'hooks'>): void {
  // Only this scope reads bodies of any type, as bytes.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    registerHook(scope.withTypeProvider(), hooks)
  })
}

function registerHook(app: App, hooks: Hooks): void {
  app.post(
    '/hooks/:token',
    {
      config: { public: true },
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        summary: 'Start a schedule from another program',
        description:
          'Takes a body of any type, of up to 256 KB. The same `Idempotency-Key` or `webhook-id` within a day returns the same occurrence. With a `hook_secret`, the request must be signed as standardwebhooks.com says, and only its `webhook-id` counts, because that is signed.',
        tags: ['schedules'],
        params: Params,
        response: { 202: envelope(StartedOccurrence) },
      },
    },
    async (request, reply) => {
      const id = await hooks.receive(readRequest(request))
      return await reply.code(202).send(success({ occurrence_id: id }))
    },
  )
  for (const method of OTHER_METHODS)
    app.route({
      method,
      url: '/hooks/:token',
      config: { public: true },
      schema: { hide: true },
      async handler(_request, reply) {
        void reply.header('allow', 'POST')
        throw appError('hook_method')
      },
    })
}

function readRequest({
  params,
  headers,
  body,
}: {
  params: unknown
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: unknown
}): HookRequest {
  const header = (name: string): string | undefined => {
    const value = headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  return {
    token: Params.parse(params).token,
    body: bytes,
    contentType: header('content-type') ?? '',
    key: keyOf(header('idempotency-key') ?? header('webhook-id')),
    signedKey: keyOf(header('webhook-id')),
    signature: {
      id: header('webhook-id') ?? '',
      timestamp: header('webhook-timestamp') ?? '',
      signatures: header('webhook-signature') ?? '',
    },
  }
}

/** A key of any length, as its sender chooses, in the form in which it is stored. */
const keyOf = (key: string | undefined): string | null =>
  key === undefined ? null : createHash('sha256').update(key).digest('hex')
