// Issuers of single sign-on for tests: a real one from npm, and one that says whatever a test wants.
import {
  createHash,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Provider } from 'oidc-provider'
import { startWebSite } from '../web-site.ts'

export const CLIENT = { id: 'nanoclaw', secret: 'a client secret of the tests' }

export interface Issuer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  close(): Promise<void>
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // the server listens on TCP, not on a pipe
}

/** A certified provider. Whoever signs in is `person`, without being asked. */
export async function startRealIssuer(
  redirectUri: string,
  person: () => { sub: string; [claim: string]: unknown },
): Promise<Issuer> {
  const { default: OidcProvider } = await import('oidc-provider')
  let provider: Provider | undefined
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://issuer')
    if (provider === undefined || !url.pathname.startsWith('/interaction/')) {
      void provider?.callback()(request, response)
      return
    }
    void finishInteraction(provider, request, response)
  })
  const finishInteraction = async (
    ...[current, request, response]: [Provider, ...Parameters<Provider['interactionDetails']>]
  ): Promise<void> => {
    const { prompt, params, session } = await current.interactionDetails(request, response)
    if (prompt.name === 'login') {
      const login = { accountId: person().sub }
      await current.interactionFinished(request, response, { login })
      return
    }
    const grant = new current.Grant({
      accountId: session?.accountId ?? '',
      clientId: String(params.client_id),
    })
    grant.addOIDCScope(String(params.scope))
    await current.interactionFinished(request, response, {
      consent: { grantId: await grant.save() },
    })
  }
  const url = `http://127.0.0.1:${await listen(server)}`
  provider = new OidcProvider(url, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [new URL('/', redirectUri).href],
      },
    ],
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'name', 'groups'],
      email: ['email', 'email_verified'],
    },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...person(), sub }) }),
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  })
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

type Claims = Record<string, unknown>

/** What a scripted issuer sends back for a code; each part replaces what an honest issuer would send. */
export interface Lie {
  claims?: Claims
  header?: Claims
  /** Signs with a key that the issuer does not publish. */
  foreignKey?: boolean
  /** Instead of the response of the token endpoint. */
  tokenResponse?: { status: number; body: string }
}

export interface ScriptedIssuer extends Issuer {
  /** What the next sign-ins get. */
  lie: Lie
  /** Added to the metadata of the issuer. */
  metadata: Claims
  /** How often its metadata were read. */
  discoveries(): number
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function sign(header: Claims, claims: Claims, key: KeyObject): string {
  const text = `${base64(header)}.${base64(claims)}`
  if (header.alg === 'none') return `${text}.`
  return `${text}.${createSign('sha256').update(text).sign(key, 'base64url')}`
}

/** Issues a code at once and responds as `lie` specifies. The code is the nonce, and goes only to who has its PKCE verifier. */
export async function startScriptedIssuer(): Promise<ScriptedIssuer> {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const site = await startWebSite()
  let discoveries = 0
  /** By code. */
  const challenges = new Map<string, string | null>()
  const issuer: ScriptedIssuer = {
    url: site.origin,
    lie: {},
    metadata: {},
    discoveries: () => discoveries,
    close: () => site.close(),
  }
  const json = (value: object): [string, string] => ['application/json', JSON.stringify(value)]
  site.page('/.well-known/openid-configuration', (_request, response) => {
    discoveries += 1
    const [type, body] = json({
      issuer: site.origin,
      authorization_endpoint: `${site.origin}/authorize`,
      token_endpoint: `${site.origin}/token`,
      jwks_uri: `${site.origin}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...issuer.metadata,
    })
    response.writeHead(200, { 'content-type': type }).end(body)
  })
  site.serve(
    '/keys',
    ...json({
      // Odd ones do not cost the others.
      keys: [
        null,
        'odd',
        { kty: 'odd' },
        { ...own.publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' },
      ],
    }),
  )
  site.page('/authorize', (_request, response, { searchParams }) => {
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const code = searchParams.get('nonce') ?? ''
    const isHashed = searchParams.get('code_challenge_method') === 'S256'
    challenges.set(code, isHashed ? searchParams.get('code_challenge') : null)
    back.searchParams.set('code', code)
    back.searchParams.set('state', searchParams.get('state') ?? '')
    response.writeHead(302, { location: back.href }).end()
  })
  site.page('/token', async (request, response) => {
    const { lie } = issuer
    let form = ''
    for await (const part of request) form += String(part)
    const given = new URLSearchParams(form)
    const verifier = createHash('sha256').update(given.get('code_verifier') ?? '')
    if (challenges.get(given.get('code') ?? '') !== verifier.digest('base64url')) {
      const [type, body] = json({ error: 'invalid_grant' })
      response.writeHead(400, { 'content-type': type }).end(body)
      return
    }
    const seconds = Math.floor(Date.now() / 1000)
    const claims = {
      iss: site.origin,
      aud: CLIENT.id,
      sub: 'somebody',
      nonce: given.get('code'),
      iat: seconds,
      exp: seconds + 300,
      preferred_username: 'somebody',
      email: 'somebody@example.org',
      ...lie.claims,
    }
    const key = lie.foreignKey === true ? foreign.privateKey : own.privateKey
    const [type, body] = json({
      access_token: 'an access token',
      token_type: 'Bearer',
      id_token: sign({ alg: 'RS256', kid: '1', ...lie.header }, claims, key),
    })
    const { status, body: lied } = lie.tokenResponse ?? { status: 200, body }
    response.writeHead(status, { 'content-type': type }).end(lied)
  })
  return issuer
}

/** Cookies by origin, as a browser keeps them; paths are ignored. */
export function createBrowser() {
  const jar = new Map<string, Map<string, string>>()
  return {
    cookies: (origin: string) => jar.get(origin) ?? new Map<string, string>(),
    /** One request without following its redirect. */
    async visit(url: string): Promise<{ status: number; location: string }> {
      const { origin } = new URL(url)
      const cookies = jar.get(origin) ?? new Map<string, string>()
      jar.set(origin, cookies)
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      })
      for (const line of response.headers.getSetCookie()) {
        const [name = '', value = ''] = line.split(';')[0]?.split(/=(.*)/s) ?? []
        if (value === '' || /Max-Age=0/.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
      await response.body?.cancel()
      const location = response.headers.get('location') ?? ''
      return {
        status: response.status,
        location: location === '' ? '' : new URL(location, url).href,
      }
    },
  }
}
