// The reference at /openapi.json and /docs, generated from the schemas that check every request and response.
import fastifySwagger from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { App } from './app.ts'

const ERROR = { $ref: '#/components/schemas/Error' }
/** How the generator refers to `z.json()`, which it does not define in the document: any JSON value. */
const ANY_JSON = /\{"\$ref":"#\/components\/schemas\/__shared#\/\$defs\/\w+"\}/g

/** Registers the reference; call it before the routes, so that it sees them. */
export async function registerReference(app: App, version: string): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'NanoClaw',
        version,
        description:
          'Success answers `{"code":0,"data":…}`, failure `{"code":<status>,"message":"…","error":"<machine name>","request_id":"…","details"?}` with that status; `X-Request-Id` is on every response. Streams are described in docs/protocol.md.',
      },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A session token or an API key (`nc-…`). Not needed in single mode.',
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
              content: { 'application/json': { schema: ERROR } },
            },
          },
        },
      }
    },
    transformObject: (document) =>
      JSON.parse(JSON.stringify(jsonSchemaTransformObject(document)).replaceAll(ANY_JSON, '{}')),
  })
  let document: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    document ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(document)
  })
  const { default: fastifySwaggerUi } = await import('@fastify/swagger-ui')
  await app.register(fastifySwaggerUi, { routePrefix: '/docs', uiConfig: { docExpansion: 'none' } })
}
