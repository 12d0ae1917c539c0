// Whether values fit schemas of /openapi.json, checked by the validator that comes with Fastify.
import { fastify } from 'fastify'

/** @param components of the document: what its references lead to. */
export function createSchemaChecker(components: object) {
  const customOptions = {
    removeAdditional: false,
    coerceTypes: false,
    useDefaults: false,
    strict: false,
    // Not checked here, but when it is decoded.
    formats: { base64: true },
  } as const
  const checker = fastify({
    bodyLimit: 100_000_000,
    ajv: { customOptions },
    // As the server does (json-body.ts): without these keys, a body may fit.
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
  })
  checker.addSchema({ $id: 'api', components })
  const urls = new Map<object, string>()

  return {
    /** Registers a schema; call it for all of them before the first check. */
    add(schema: object): void {
      if (urls.has(schema)) return
      const url = `/${urls.size}`
      urls.set(schema, url)
      const body = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'))
      checker.post(url, { schema: { body } }, async () => 'fits')
    },
    /** `fits`, or what is wrong. @param text JSON. */
    async check(schema: object, text: string): Promise<string> {
      const url = urls.get(schema)
      if (url === undefined) throw new Error('this schema was not added')
      const headers = { 'content-type': 'application/json' }
      return (await checker.inject({ method: 'POST', url, payload: text, headers })).body
    },
    close: () => checker.close(),
  }
}
