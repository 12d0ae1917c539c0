// The API reference at /openapi.json and /docs, generated from the schemas that validate requests and responses.
import fastifySwagger from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { App } from '../app.ts'
import { describeFields, type FieldSchema } from '../field-descriptions/describe-fields.ts'
import { describeParameters, type Parameter } from '../field-descriptions/parameters.ts'
import { ENVELOPE } from '../field-descriptions/shared.ts'
import { FIELD_DESCRIPTIONS } from '../field-descriptions.ts'

const ERROR = { $ref: '#/components/schemas/Error' }
const OPENAI_ERROR = { $ref: '#/components/schemas/OpenAiError' }

/** An address of the reference that leads to its beginning. */
const INDEX = /\/static\/index\.html(?:\?|$)/

/** The part of an operation that depends on other operations. */
interface Operation {
  /** Empty if no sign-in is required. */
  security: readonly object[]
  parameters?: readonly Parameter[]
  responses: Record<string, { content?: Record<string, { schema?: FieldSchema }> }>
}
/** A parameter of every POST by a signed-in user; see `idempotency.ts`. */
const IDEMPOTENCY_KEY = { $ref: '#/components/parameters/IdempotencyKey' }

/**
 * Registers the reference. Call it before the routes are registered, so that it includes them. @param basePath the path of
 * the server below its host.
 */
export async function registerReference(
  app: App,
  version: string,
  basePath: string,
): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'NanoClaw',
        version,
        description:
          'Successful requests return `{"code":0,"data":…}`. Failed requests return `{"code":<status>,"message":"…","error":"<error code>","request_id":"…","details"?}` with the same HTTP status. Every response has an `X-Request-Id` header. For the format of streams, see docs/protocol.md.',
      },
      ...(basePath === '' ? {} : { servers: [{ url: basePath }] }),
      components: {
        parameters: {
          IdempotencyKey: {
            name: 'Idempotency-Key',
            in: 'header',
            required: false,
            description:
              'Any text. Sending a request again with the same key within a day returns the first response without repeating the work.',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
          },
        },
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A session token or an API key (`nc-…`). Not required in single-user mode.',
          },
        },
      },
    },
    transform: (document) => {
      const { schema, url } = jsonSchemaTransform(document)
      if (schema.hide === true) return { schema, url }
      const isPublic = document.route.config?.public === true
      return {
        url,
        schema: {
          ...schema,
          tags: schema.tags ?? [url.split('/')[2] ?? 'server'],
          security: isPublic || !/^\/(api|v1)\//.test(url) ? [] : [{ bearer: [] }],
          response: {
            ...(typeof schema.response === 'object' ? schema.response : {}),
            default: {
              description: 'The request failed.',
              content: {
                'application/json': { schema: url.startsWith('/v1/') ? OPENAI_ERROR : ERROR },
              },
            },
          },
        },
      }
    },
    transformObject: (document) => {
      const complete = JSON.parse(JSON.stringify(jsonSchemaTransformObject(document)))
      describeOperations(complete.paths)
      describeSchemas(complete.components.schemas)
      return complete
    },
  })
  let document: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(document)
  })
  const { default: fastifySwaggerUi } = await import('@fastify/swagger-ui')
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    ...(basePath === '' ? {} : { indexPrefix: basePath }),
    uiHooks: {
      // Its own redirect loses the base path.
      onRequest(request, reply, done) {
        if (INDEX.test(request.url)) void reply.redirect(`${basePath}/docs/`)
        else done()
      },
    },
    uiConfig: { docExpansion: 'none' },
    // Swagger UI's scripts write `style` attributes.
    transformStaticCSP: (policy) => `${policy};style-src-attr 'unsafe-inline'`,
  })
}

function describeOperations(paths: Record<string, Record<string, Operation>>): void {
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      describeParameters(path, operation.parameters ?? [])
      if (method === 'post' && operation.security.length > 0)
        operation.parameters = [...(operation.parameters ?? []), IDEMPOTENCY_KEY]
      for (const { content = {} } of Object.values(operation.responses))
        for (const { schema } of Object.values(content))
          if (schema !== undefined) describeFields(schema, ENVELOPE)
    }
}

/** The generator lists each schema twice: for responses and, with the ending `Input`, for requests. */
function describeSchemas(schemas: Record<string, FieldSchema>): void {
  for (const [id, descriptions] of Object.entries(FIELD_DESCRIPTIONS))
    for (const schema of [schemas[id], schemas[`${id}Input`]])
      if (schema !== undefined) describeFields(schema, descriptions)
}
