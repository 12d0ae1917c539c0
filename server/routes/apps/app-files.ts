// What the origin of apps answers: the files of open apps, and the libraries that they use.
import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AppFile } from '../../apps/apps.ts'
import { isCompiled, pathsOfImport } from '../../apps/components.ts'
import {
  ADDRESS_MODULE,
  componentDocument,
  diagramDocument,
  faultDocument,
  htmlDocument,
  jsonModule,
  markdownDocument,
  styleModule,
  svgDocument,
  typeOf,
} from '../../apps/documents.ts'
import { appHeaders, LIBRARY_HEADERS, REFUSAL_HEADERS } from '../../apps/headers.ts'
import { type AppLibraries, LIBRARIES } from '../../apps/libraries.ts'
import { PROXY_PATH, proxyDocument } from '../../apps/proxy.ts'
import type { ShareRow } from '../../db/repositories/conversations/shares.ts'
import { AppError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { appKindOf } from '../../protocol/app-kind.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'

type Needed = Pick<
  Services,
  | 'apps'
  | 'appComponents'
  | 'appLibraries'
  | 'appsOrigin'
  | 'blobs'
  | 'markdown'
  | 'shares'
  | 'store'
>

/** Whose files an address has: an open app, or the apps of a share. */
interface Served {
  userId: UserId
  /** The origin at which it is served. */
  origin: string
  /** Who may frame it: sources of a content security policy. */
  pageOrigin: string
  /** Whether imports may leave out the endings of files, also for browsers that do not say what they load. */
  isComponent: boolean
  /** `isForFrame`: a frame loads it. Null if there is no such file. */
  read(path: string, isForFrame: boolean): Promise<AppFile | null>
}

const Params = z.object({ token: z.string(), '*': z.string() })
/** With it, a component is sent as the module that its document loads. */
const Query = z.object({ module: z.string().optional() })
/** Files of apps are of several kinds; longer ones of those that become a document of ours are not shown. */
const MAX_SOURCE_BYTES = 1024 * 1024
/** One text for every address that is unknown, has expired or ended, or leads out of its app. */
const NOT_FOUND = 'Not found\n'
/** The token of a share, with what its page gives those who know the password. */
const SHARE_ACCESS = /^([\w-]{22})(?:~([\w-]{43}))?$/

/** Everything that this origin answers. Every other path is 404; nothing here reads a cookie or a credential. */
export function registerAppFiles(app: App, services: Needed): void {
  // Whatever answers, the fault handler and unknown paths included.
  app.addHook('onSend', async (_request, reply, payload) => {
    if (!reply.hasHeader('content-security-policy')) void reply.headers(REFUSAL_HEADERS)
    return payload
  })
  const refusing = {
    config: { public: true },
    schema: { hide: true },
    // Before a body is read.
    async onRequest({ method, headers }: FastifyRequest, reply: FastifyReply) {
      if (method !== 'GET' && method !== 'HEAD')
        return refuse(reply.header('allow', 'GET, HEAD'), 405, 'Method not allowed\n')
      // An app must not answer in the place of this server.
      if (headers['service-worker'] !== undefined) return refuse(reply, 403, 'Forbidden\n')
      // Outside of a frame, nothing would keep an app from leaving for another address with what it knows.
      if (headers['sec-fetch-dest'] === 'document') return refuse(reply, 404, NOT_FOUND)
      return undefined
    },
  }
  app.all('/v/:token/*', refusing, (request, reply) => answer(services, request, reply))
  app.all(PROXY_PATH, refusing, (request, reply) => sendProxy(services, request, reply))
}

async function sendProxy(
  { appsOrigin }: Needed,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const document = proxyDocument(request.query, appsOrigin.pagesOf(request))
  if (document === null) return refuse(reply, 400, 'Bad request\n')
  return reply.headers(document.headers).type(typeOf('.html')).send(document.html)
}

async function answer(
  services: Needed,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { token, '*': path } = Params.parse(request.params)
  if (token === LIBRARIES) return sendLibrary(services.appLibraries, path, request, reply)
  const found = await findServed(services, token, request)
  // Browsers say it to every origin that they trust, and requests of documents with the network reach only such.
  const destination = request.headers['sec-fetch-dest']
  const isModule = destination === 'script' || Query.parse(request.query).module !== undefined
  const file =
    found === null
      ? null
      : await findFile(found, path, {
          isForFrame: !isModule && (destination ?? 'iframe') === 'iframe',
          mayLackEnding: isModule || destination === undefined,
        })
  if (found === null || file === null) return refuse(reply, 404, NOT_FOUND)
  const { origin, pageOrigin } = found
  void reply.headers(appHeaders({ appsOrigin: origin, pageOrigin, network: file.network }))
  const isImported =
    destination === undefined && isCompiled(file.path) && (!file.isMain || file.path !== path)
  if (isModule || isImported) {
    const module = await moduleOf(services, found, file)
    if (module !== null) return reply.type(typeOf('.js')).send(module)
  }
  const document = isModule ? null : await documentOf(services, found, file)
  if (document !== null) return reply.type(typeOf('.html')).send(document)
  return reply.type(typeOf(file.path)).send(file.bytes)
}

const refuse = (reply: FastifyReply, status: number, text: string): FastifyReply =>
  reply.code(status).headers(REFUSAL_HEADERS).type('text/plain; charset=utf-8').send(text)

/** What a token stands for; null if it is unknown, or has ended. */
async function findServed(
  services: Needed,
  token: string,
  request: FastifyRequest,
): Promise<Served | null> {
  const shared = SHARE_ACCESS.exec(token)
  if (shared !== null) return await findShared(services, shared, request)
  const app = await services.apps.find(token)
  if (app === null || app.row.appsOrigin === null) return null
  const { userId, appsOrigin, pageOrigin, kind } = app.row
  return {
    userId,
    origin: appsOrigin,
    pageOrigin,
    isComponent: kind === 'component',
    read: (path, isForFrame) => services.apps.read(app, path, isForFrame),
  }
}

/** The apps of a share, as they were when its copy was made. They have no network, whatever their owner allowed. */
async function findShared(
  { apps, shares, store, blobs, appsOrigin }: Needed,
  [, token = '', ticket]: RegExpExecArray,
  request: FastifyRequest,
): Promise<Served | null> {
  const share = await openShare(shares, { token, ticket, address: request.ip })
  if (share === null || !apps.isAllowed(share.userId)) return null
  return {
    userId: share.userId,
    origin: `${request.protocol}://${request.host}`,
    pageOrigin: appsOrigin.pagesOf(request).join(' ') || "'none'",
    isComponent: true,
    async read(path, isForFrame) {
      const file = await store.shares.findAppFile(share, path)
      if (file === undefined) return null
      const bytes = await buffer(await blobs.open(file.sha256))
      return { bytes, isMain: isForFrame, network: false }
    },
  }
}

async function openShare(
  shares: Needed['shares'],
  visit: { token: string; ticket: string | undefined; address: string },
): Promise<ShareRow | null> {
  try {
    return await shares.open({ ...visit, isFile: true })
  } catch (error) {
    // Also a wrong ticket: whoever guesses learns nothing.
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}

type FoundFile = AppFile & { path: string }

/** Imports of components need not name the ending of a file. */
async function findFile(
  app: Served,
  given: string,
  { isForFrame, mayLackEnding }: { isForFrame: boolean; mayLackEnding: boolean },
): Promise<FoundFile | null> {
  const isOfComponent = app.isComponent && mayLackEnding
  for (const path of isOfComponent ? pathsOfImport(given) : [given]) {
    const file = await app.read(path, isForFrame)
    if (file !== null) return { ...file, path }
  }
  return null
}

/** What a component gets that imports the file; null if that is the file as it is. */
async function moduleOf(
  { appComponents }: Needed,
  { userId, isComponent }: Served,
  { bytes, path }: FoundFile,
): Promise<string | null> {
  if (isCompiled(path)) {
    const result = await appComponents.compile(userId, path, bytes)
    if (result.ok) return result.code
    const place = result.line === null ? path : `${path}, line ${result.line}`
    return `throw new SyntaxError(${JSON.stringify(`${place}: ${result.message}`)})`
  }
  if (!isComponent || /\.m?js$/i.test(path)) return null
  if (bytes.length > MAX_SOURCE_BYTES) return ADDRESS_MODULE
  if (/\.css$/i.test(path)) return styleModule(bytes.toString('utf8'))
  if (/\.json$/i.test(path)) return jsonModule(bytes.toString('utf8'))
  return ADDRESS_MODULE
}

/** The document that the file becomes; null if it is sent as it is. */
async function documentOf(
  services: Needed,
  app: Served,
  { bytes, isMain, path }: FoundFile,
): Promise<string | Buffer | null> {
  const kind = appKindOf(path)
  if (kind === 'html') return htmlDocument(bytes)
  // Beside an app, other kinds are files that it loads.
  if (!isMain) return null
  if (kind === 'component') return await componentOf(services, app, { path, bytes })
  if (bytes.length > MAX_SOURCE_BYTES)
    return faultDocument('This file is too large to be shown as an app.')
  const text = bytes.toString('utf8')
  switch (kind) {
    case 'svg':
      return svgDocument(text)
    case 'document':
      return markdownDocument(
        await services.markdown.render(app.userId, text, { language: 'en', hasFrames: false }),
      )
    case 'diagram': {
      const library = (await services.appLibraries.modules()).get('mermaid')
      return library === undefined
        ? faultDocument(NO_LIBRARIES)
        : diagramDocument(text, app.origin + library)
    }
    default:
      return null
  }
}

const NO_LIBRARIES = 'The libraries of apps are missing on this server: its page was not built.'

async function componentOf(
  { appComponents, appLibraries }: Needed,
  { userId, origin, read }: Served,
  main: { path: string; bytes: Buffer },
): Promise<string> {
  const modules = await appLibraries.modules()
  if (modules.size === 0) return faultDocument(NO_LIBRARIES)
  const fault = await appComponents.faultOf(userId, main, async (path) => {
    const file = await read(path, false)
    return file === null ? null : { path, bytes: file.bytes }
  })
  if (fault !== null) return faultDocument(fault.message, fault.line)
  const name = encodeURIComponent(main.path.split('/').at(-1) ?? '')
  return componentDocument(
    new Map([...modules].map(([module, path]) => [module, origin + path])),
    `./${name}?module`,
  )
}

/** Modules of libraries, as the build of the page has compressed them. */
async function sendLibrary(
  libraries: AppLibraries,
  path: string,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const accepted = String(headers['accept-encoding'] ?? '')
  const encodings = ['br', 'gzip'].filter((name) => new RegExp(`\\b${name}\\b`).test(accepted))
  const found = await libraries.find(path, encodings)
  if (found === null) return refuse(reply, 404, NOT_FOUND)
  void reply.headers({ ...LIBRARY_HEADERS, vary: 'accept-encoding' }).type(typeOf('.js'))
  if (found.encoding !== null) void reply.header('content-encoding', found.encoding)
  return reply.send(createReadStream(found.file))
}
