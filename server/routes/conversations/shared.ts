// Public routes for everybody who has the link of a share: its page, its JSON and its files.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError, appError } from '../../errors.ts'
import { longTextBytes } from '../../files/attachment-contents.ts'
import type { App } from '../../http/app.ts'
import { Imported } from '../../protocol/conversations/export.ts'
import { SharedConversation } from '../../protocol/conversations/share.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { Services } from '../../services.ts'
import { continueShare } from '../../sharing/continue-share.ts'
import { FORMULA_FONT, TEXT_FONTS } from '../../sharing/document-fonts.ts'
import { type DocumentLanguage, documentLanguage } from '../../sharing/document-texts.ts'
import { attachmentHeader, encodeFileName } from '../../sharing/file-name.ts'
import {
  gonePage,
  passwordPage,
  sharePage,
  sharePagePolicy,
  tooManyPage,
} from '../../sharing/share-page.ts'
import { success } from '../envelope.ts'

type SharedServices = Pick<
  Services,
  | 'database'
  | 'store'
  | 'files'
  | 'workspace'
  | 'offeredModels'
  | 'shares'
  | 'blobs'
  | 'markdown'
  | 'isHttps'
  | 'basePath'
  | 'apps'
  | 'appsOrigin'
>

const PASSWORD_HEADER = 'x-share-password'
const TICKET_COOKIE = 'nc-share'
const MAX_PASSWORD_CHARACTERS = 200
/** Up to nine characters (`%E4%BD%A0`) for each of the password. */
const MAX_HEADER_CHARACTERS = 9 * MAX_PASSWORD_CHARACTERS
/** Whatever is no token is a link that does not exist. */
const Params = z.object({ token: z.string() })
const PasswordForm = z.object({ password: z.string().min(1).max(MAX_PASSWORD_CHARACTERS) })

const tags = ['sharing']

/** `/api/shared/:token` and the page `/s/:token`. */
export function registerSharedRoutes(app: App, services: SharedServices): void {
  registerReading(app, services)
  registerCopy(app, services)
  registerPage(app, services)
  registerFonts(app)
}

/** The conversation as JSON, and its files. */
function registerReading(app: App, { shares, store, blobs }: SharedServices): void {
  app.get(
    '/api/shared/:token',
    {
      config: { public: true },
      schema: {
        summary: 'Get a shared conversation; send its password, if any, in `X-Share-Password`',
        tags,
        params: Params,
        response: { 200: envelope(SharedConversation) },
      },
    },
    async (request, reply) => {
      const share = await shares.open(visitOf(request, request.params.token))
      const head = JSON.stringify({
        title: share.title,
        created_at: share.renewedAt.toISOString(),
        expires_at: share.expiresAt?.toISOString() ?? null,
        include: share.include,
      }).slice(0, -1)
      async function* pieces(): AsyncGenerator<string> {
        yield `{"code":0,"data":${head},"messages":[`
        let separator = ''
        for await (const message of store.shares.readMessages(share)) {
          yield separator + message
          separator = ','
        }
        yield ']}}'
      }
      // The messages are stored as JSON and sent as they are.
      const raw: FastifyReply = reply
      return raw
        .header('x-robots-tag', 'noindex')
        .type('application/json; charset=utf-8')
        .send(Readable.from(pieces(), { highWaterMark: 1, objectMode: true }))
    },
  )

  app.get(
    '/api/shared/:token/files/:id',
    {
      config: { public: true },
      schema: {
        summary: 'Get a file of a shared conversation',
        tags,
        produces: ['image/*', 'text/plain'],
        params: Params.extend({ id: z.coerce.number().int().min(0).max(1_000_000) }),
      },
    },
    async (request, reply) => {
      const share = await shares.open({ ...visitOf(request, request.params.token), isFile: true })
      const file = await store.shares.findFile(share, request.params.id)
      if (file === undefined) throw appError('attachment_not_found')
      const isImage = file.kind === 'image'
      void reply.headers({
        'content-type':
          file.mime === null || file.mime === 'text/plain'
            ? 'text/plain; charset=utf-8'
            : file.mime,
        'content-disposition': isImage
          ? `inline; filename*=UTF-8''${encodeFileName(file.name)}`
          : attachmentHeader(file.name),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
      })
      if (file.sha256 !== null) return reply.send(await blobs.open(file.sha256))
      return reply.send(Readable.from(longTextBytes(file), { highWaterMark: 1, objectMode: true }))
    },
  )
}

/** Copies the conversation into the visitor's own account. */
function registerCopy(
  app: App,
  { shares, database, store, files, workspace, offeredModels }: SharedServices,
): void {
  const { storage } = workspace.workspaces
  const target = { database, store, files, storage, hasModel: offeredModels.exists }
  app.post(
    '/api/shared/:token/continue',
    {
      schema: {
        summary:
          'Copy a shared conversation to continue it; its text is marked as text from outside',
        tags,
        params: Params,
        response: { 200: envelope(Imported) },
      },
    },
    async (request) => {
      const share = await shares.open(visitOf(request, request.params.token))
      return success(await continueShare(target, request.user.id, share))
    },
  )
}

/** The fonts of the page. */
function registerFonts(app: App): void {
  for (const { path, content } of [...TEXT_FONTS, FORMULA_FONT])
    app.get(path, { config: { public: true }, schema: { hide: true } }, (_request, reply) =>
      reply
        .headers({ 'content-type': 'font/woff2', 'cache-control': 'public, max-age=604800' })
        .send(content()),
    )
}

/** The page, and the form for its password. */
function registerPage(app: App, services: SharedServices): void {
  app.get('/s/:token', { config: { public: true }, schema: { hide: true } }, (request, reply) => {
    const { token } = Params.parse(request.params)
    return sendPage(services, request, reply, { token })
  })

  // Only this scope parses forms. Elsewhere, pages of other sites could submit them.
  app.register(async (scope) => {
    scope.addContentTypeParser<string>(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body))),
    )
    scope.post(
      '/s/:token',
      { config: { public: true }, schema: { hide: true } },
      (request, reply) => {
        const { token } = Params.parse(request.params)
        const form = PasswordForm.safeParse(request.body)
        return sendPage(services, request, reply, { token, password: form.data?.password })
      },
    )
  })
}

/** Sends the page or, instead of it, the form for the password or the reason why there is no page. */
async function sendPage(
  { shares, store, markdown, isHttps: https, basePath, apps, appsOrigin }: SharedServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { token, password }: { token: string; password?: string | undefined },
): Promise<FastifyReply> {
  const language = documentLanguage(request.headers['accept-language'])
  const origin = appsOrigin.of(request)
  void reply.type('text/html; charset=utf-8').headers({
    'cache-control': 'no-store',
    'content-security-policy': sharePagePolicy(origin),
    'content-language': language,
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow, noarchive',
    vary: 'accept-language, cookie',
  })
  try {
    const visit = visitOf(request, token)
    const share = await shares.open(
      password === undefined ? visit : { ...visit, password, otherReadings: [] },
    )
    const ticket = shares.ticketOf(share)
    if (ticket !== null)
      void reply.header('set-cookie', [
        ticketCookie(ticket, `${basePath}/s/${encodeURIComponent(token)}`, https),
        ticketCookie(ticket, `${basePath}/api/shared/${encodeURIComponent(token)}`, https),
      ])
    if (request.method !== 'HEAD') await shares.countView(share)
    const place =
      origin === null || !apps.isAllowed(share.userId)
        ? null
        : `${origin}/v/${token}${ticket === null ? '' : `~${ticket}`}/`
    const pieces = sharePage(share, store.shares.readMessages(share), {
      token,
      apps: place,
      language,
      markdown,
    })
    return reply.send(Readable.from(pieces, { highWaterMark: 1, objectMode: true }))
  } catch (error) {
    return refuse(reply, error, language)
  }
}

/** The page for visitors who may not read the copy. @throws every error that is not a refusal. */
function refuse(reply: FastifyReply, error: unknown, language: DocumentLanguage): FastifyReply {
  if (!(error instanceof AppError)) throw error
  if (error.status === 404) return reply.code(404).send(gonePage(language))
  if (error.status !== 401 && error.status !== 429) throw error
  if (error.retryAfter !== undefined) void reply.header('retry-after', error.retryAfter)
  if (error.reason === 'share_views_exhausted')
    return reply.code(error.status).send(tooManyPage(language))
  const note = error.status === 429 ? 'tooMany' : 'wrong'
  return reply
    .code(error.status)
    .send(passwordPage(language, error.reason === 'share_password_needed' ? null : note))
}

const visitOf = (request: FastifyRequest, token: string) => {
  const header = request.headers[PASSWORD_HEADER]
  const [password, ...otherReadings] = typeof header === 'string' ? passwordsIn(header) : []
  return {
    token,
    address: request.ip,
    ticket: cookie(request.headers.cookie),
    ...(password === undefined ? {} : { password, otherReadings }),
  }
}

/** Node reads the bytes of a header as Latin-1. */
function fromUtf8Bytes(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/**
 * What a header with a password may mean. Some clients send only ASCII in headers and encode the rest with percent signs, others
 * send the bytes of UTF-8; a password may contain a percent sign itself.
 */
function passwordsIn(header: string): string[] {
  if (header.length > MAX_HEADER_CHARACTERS) return []
  const readings = [fromUtf8Bytes(header)]
  try {
    readings.push(decodeURIComponent(header))
  } catch {
    // It is not encoded.
  }
  return [...new Set(readings)].filter(({ length }) => length <= MAX_PASSWORD_CHARACTERS)
}

const ticketCookie = (ticket: string, path: string, https: boolean): string =>
  `${TICKET_COOKIE}=${ticket}; Path=${path}; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`

const cookie = (header: string | undefined): string | undefined =>
  new RegExp(`(?:^|;\\s*)${TICKET_COOKIE}=([\\w-]{1,100})(?:;|$)`).exec(header ?? '')?.[1]
