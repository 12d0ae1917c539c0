// Routes of the links with which an approval request is decided from anywhere: making one, its page, and the decision.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { networkOf } from '../../auth/network.ts'
import type { OpenLink } from '../../chat/approval-links.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { envelope } from '../../protocol/envelope.ts'
import {
  ApprovalLink,
  ApprovalLinkBody,
  LinkDecided,
  LinkDecisionBody,
  LinkedApproval,
} from '../../protocol/runs/approval-link.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { pageUrl } from '../page-url.ts'
import { presentRequest } from './present-request.ts'

/** Unknown tokens that a network may try. */
const GUESSES = { limit: 20, windowMs: 15 * 60_000 }
const tags = ['runs']
const OfRequest = z.object({ id: z.string().max(64) })
/** A token of any form: every unknown one gets the same response. */
const OfLink = z.object({ token: z.string() })

type LinkServices = Pick<Services, 'chat' | 'limits' | 'publicUrl' | 'authMode'>

/** `POST /api/approvals/:id/link` and `/a/:token`. */
export function registerApprovalLinkRoutes(app: App, services: LinkServices): void {
  const { chat, publicUrl } = services
  const open = createOpening(services)

  app.post(
    '/api/approvals/:id/link',
    {
      config: { holdsSecret: true },
      schema: {
        summary: 'Make a link with which a waiting tool call is decided from anywhere',
        description:
          'Opening the link decides nothing. Whoever has it can reject the call; only you, signed in, can approve it. It ends with the decision. `Idempotency-Key` has no effect.',
        tags,
        params: OfRequest,
        body: ApprovalLinkBody,
        response: { 200: envelope(ApprovalLink) },
      },
    },
    async (request) => {
      const { user, params, body } = request
      const { token, expiresAt } = await chat.createApprovalLink(
        { userId: user.id, id: params.id, lifetimeSeconds: body.expires_in },
        actorOf(request),
      )
      const origin = `${request.protocol}://${request.host}`
      return success({
        url: pageUrl(publicUrl, origin, `/a/${token}`),
        expires_at: expiresAt.toISOString(),
      })
    },
  )

  app.get(
    '/a/:token',
    {
      config: { public: true, mayKnowUser: true },
      schema: {
        summary: 'Get the call that a link decides; nothing changes',
        description:
          'With `Accept: application/json`; browsers get the page. A link that is spent, expired or unknown is 410.',
        tags,
        params: OfLink,
        response: { 200: envelope(LinkedApproval) },
      },
    },
    async (request, reply) => {
      void reply.headers({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow, noarchive',
        vary: 'accept, authorization',
      })
      const isData = request.headers.accept?.includes('application/json') === true
      if (!isData) return await sendPage(request, reply)
      const link = await open(request)
      return success({
        approval: presentRequest({ ...link.request, conversationTitle: null }),
        may_approve: chat.mayApprove(link, senderOf(request)),
        expires_at: link.link.expiresAt.toISOString(),
      })
    },
  )

  app.post(
    '/a/:token',
    {
      config: { public: true, mayKnowUser: true },
      schema: {
        summary: 'Reject or approve the call of a link',
        description:
          '`approve` needs a session of the person who made the link (401 `sign_in_required`), and the page for calls of high risk (403 `open_the_page`) unless the server allows it. API keys cannot approve.',
        tags,
        params: OfLink,
        body: LinkDecisionBody,
        response: { 200: envelope(LinkDecided) },
      },
    },
    async (request, reply) => {
      void reply.header('x-robots-tag', 'noindex, nofollow, noarchive')
      const link = await open(request)
      await chat.decideByLink(link, request.body, senderOf(request))
      return success({ decision: request.body.decision })
    },
  )

  /** The page says with its status whether the link works, for programs that check links. */
  async function sendPage(
    request: FastifyRequest<{ Params: z.infer<typeof OfLink> }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    try {
      await open(request)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      void reply.code(error.status)
    }
    return await reply.sendWebPage()
  }
}

/** The function that opens the link of a request. @throws AppError `link_gone`, `link_guesses_exhausted`. */
function createOpening({ chat, limits }: Pick<LinkServices, 'chat' | 'limits'>) {
  const guesses = limits.rateLimit('unknown approval links', GUESSES)
  return async (
    request: Pick<FastifyRequest<{ Params: z.infer<typeof OfLink> }>, 'params' | 'ip'>,
  ): Promise<OpenLink> => {
    const link = await chat.openApprovalLink(request.params.token)
    if (link !== undefined) return link
    const seconds = await guesses.acquire(networkOf(request.ip))
    if (seconds !== null)
      throw appError('link_guesses_exhausted', { seconds }, { retryAfter: seconds })
    throw appError('link_gone')
  }
}

/** Who uses a link. A key is no person; without accounts everybody is the one user. */
function senderOf({ user, apiKey, ip }: Pick<FastifyRequest, 'user' | 'apiKey' | 'ip'>) {
  // Not set on routes without a sign-in, whatever its type says.
  const sender: typeof user | undefined | null = user
  return {
    sessionUser:
      apiKey !== null || sender === undefined || sender === null
        ? null
        : { id: sender.id, username: sender.username },
    address: ip,
  }
}
