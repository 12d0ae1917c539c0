// What the origin of apps answers: the files of open apps, and the libraries that they use.
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppFile, Apps } from '../../apps/apps.ts'
import {
  diagramDocument,
  faultDocument,
  htmlDocument,
  markdownDocument,
  svgDocument,
  typeOf,
} from '../../apps/documents.ts'
import { appHeaders, LIBRARY_HEADERS, REFUSAL_HEADERS } from '../../apps/headers.ts'
import type { App } from '../../http/app.ts'
import { appKindOf } from '../../protocol/projects/app-kind.ts'
import type { Services } from '../../services.ts'

type Needed = Pick<Services, 'apps' | 'markdown'> & {
  /** Folder of the built page, which has Mermaid. */
  webRoot: string
}
type FoundApp = NonNullable<Awaited<ReturnType<Apps['find']>>>

const Params = z.object({ token: z.string(), '*': z.string() })
/** Files of apps are of several kinds; longer ones of those that become a document of ours are not shown. */
const MAX_SOURCE_BYTES = 1024 * 1024
/** One text for every address that is unknown, has expired or ended, or leads out of its app. */
const NOT_FOUND = 'Not found\n'
/** A library's address, instead of a token. */
const LIBRARIES = '-'

/** Everything that this origin answers. Every other path is 404; nothing here reads a cookie or a credential. */
export function registerAppFiles(app: App, services: Needed): void {
  const library = findLibrary(services.webRoot)
  // Whatever answers, the fault handler and unknown paths included.
  app.addHook('onSend', async (_request, reply, payload) => {
    if (!reply.hasHeader('content-security-policy')) void reply.headers(REFUSAL_HEADERS)
    return payload
  })
  app.all(
    '/v/:token/*',
    {
      config: { public: true },
      schema: { hide: true },
      // Before a body is read.
      async onRequest({ method, headers }, reply) {
        if (method !== 'GET' && method !== 'HEAD')
          return refuse(reply.header('allow', 'GET, HEAD'), 405, 'Method not allowed\n')
        // An app must not answer in the place of this server.
        if (headers['service-worker'] !== undefined) return refuse(reply, 403, 'Forbidden\n')
        // Outside of a frame, nothing would keep an app from leaving for another address with what it knows.
        if (headers['sec-fetch-dest'] === 'document') return refuse(reply, 404, NOT_FOUND)
        return undefined
      },
    },
    (request, reply) => answer({ ...services, library }, request, reply),
  )
}

async function answer(
  services: Needed & { library: Library },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { token, '*': path } = Params.parse(request.params)
  if (token === LIBRARIES) return sendLibrary(await services.library, path, reply)
  const found = await services.apps.find(token)
  // Browsers say it to every origin that they trust, and requests of documents with the network reach only such.
  const destination = request.headers['sec-fetch-dest'] ?? 'iframe'
  const file =
    found === null ? null : await services.apps.read(found, path, destination === 'iframe')
  const origin = found?.row.appsOrigin ?? null
  if (found === null || file === null || origin === null) return refuse(reply, 404, NOT_FOUND)
  const { pageOrigin } = found.row
  void reply.headers(appHeaders({ appsOrigin: origin, pageOrigin, network: file.network }))
  const document = await documentOf(services, found, file, path, origin)
  if (document !== null) return reply.type('text/html; charset=utf-8').send(document)
  return reply.type(typeOf(path)).send(file.bytes)
}

const refuse = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.code(status).headers(REFUSAL_HEADERS).type('text/plain; charset=utf-8').send(text)

/** The document that the file becomes; null if it is sent as it is. */
async function documentOf(
  { markdown }: Needed,
  { row }: FoundApp,
  { bytes, isMain }: AppFile,
  path: string,
  origin: string,
): Promise<string | Buffer | null> {
  const kind = appKindOf(path)
  if (kind === 'html') return htmlDocument(bytes)
  // Beside an app, other kinds are files that it loads.
  if (!isMain) return null
  if (bytes.length > MAX_SOURCE_BYTES)
    return faultDocument('This file is too large to be shown as an app.')
  const text = bytes.toString('utf8')
  switch (kind) {
    case 'svg':
      return svgDocument(text)
    case 'document':
      return markdownDocument(
        await markdown.render(row.userId, text, { language: 'en', hasFrames: false }),
      )
    case 'diagram':
      return diagramDocument(text, `${origin}/v/${LIBRARIES}/mermaid/mermaid.esm.min.mjs`)
    default:
      return null
  }
}

const LIBRARY_FILE = /^mermaid\/((?:chunks\/)?(?:[\w.-]+\/)?[\w-][\w.-]*\.mjs)$/

/** The folder of Mermaid's modules; undefined if the page was not built. */
type Library = Promise<string | undefined>

async function findLibrary(webRoot: string): Library {
  const assets = join(webRoot, 'assets')
  const entries = await readdir(assets, { withFileTypes: true }).catch(() => [])
  // A module of the page has a name that begins like that of the folder.
  const found = entries.find((one) => one.isDirectory() && one.name.startsWith('mermaid-'))
  return found === undefined ? undefined : join(assets, found.name)
}

/** Modules of Mermaid, which the page uses as well. */
async function sendLibrary(
  folder: string | undefined,
  path: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const name = LIBRARY_FILE.exec(path)?.[1]
  if (name === undefined || folder === undefined || path.includes('..'))
    return refuse(reply, 404, NOT_FOUND)
  const file = join(folder, name)
  const isThere = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isThere) return refuse(reply, 404, NOT_FOUND)
  return reply
    .headers(LIBRARY_HEADERS)
    .type('text/javascript; charset=utf-8')
    .send(createReadStream(file))
}
