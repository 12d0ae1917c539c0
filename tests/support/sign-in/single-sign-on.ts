// Signs in at an OpenID Connect issuer, as a browser does.

import { TEST_JWT_SECRET, type TestServer } from '../server/server.ts'
import { CLIENT, createBrowser } from './issuer.ts'

/** The public URL; tests send its requests to the server under test. */
export const PUBLIC = 'http://chat.test:1'
const multi = { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, public_url: PUBLIC }
/** The configuration of a server that signs in at this issuer; `more` is merged into the section `oidc`. */
export const settings = (issuer: string, more: object = {}) => ({
  ...multi,
  oidc: { issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, name: 'Example', ...more },
})

/** The first account: a local administrator, with the setup link. */
export async function setUp(server: TestServer): Promise<string> {
  const link = server.server.setupPath?.split('#')[1]
  const body = { username: 'root', password: 'a good password', link }
  return (await server.call('POST', '/api/auth/register', { body })).json.data.token
}

type Browser = ReturnType<typeof createBrowser>

/** Follows the sign-in until the page is reached. @returns its path with the fragment. */
export async function signIn(
  server: TestServer,
  browser: Browser = createBrowser(),
  from = '/',
): Promise<string> {
  const start = `${server.url}/api/auth/oidc/start?return_to=${encodeURIComponent(from)}`
  let { location } = await browser.visit(start)
  for (let hop = 0; hop < 10; hop += 1) {
    if (location.startsWith(PUBLIC)) location = server.url + location.slice(PUBLIC.length)
    if (location.startsWith(server.url) && !location.includes('/api/')) break
    ;({ location } = await browser.visit(location))
  }
  return location.slice(server.url.length)
}

/** The account whose session the browser has; undefined without one. */
export async function accountOf(server: TestServer, browser: Browser) {
  const cookie = [...browser.cookies(server.url)]
    .map(([name, value]) => `${name}=${value}`)
    .join('; ')
  const { json } = await server.call('POST', '/api/auth/refresh', { headers: { cookie } })
  return json.data
}
