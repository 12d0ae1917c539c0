// The headers of everything that the origin of apps serves: what the content of a frame may do, and that it reaches nothing.

import type { McpAppCsp } from '../protocol/mcp-app.ts'

/** Device features: none. */
const PERMISSIONS = [
  ...[
    'accelerometer',
    'autoplay',
    'camera',
    'clipboard-read',
    'clipboard-write',
    'display-capture',
  ],
  ...[
    'encrypted-media',
    'fullscreen',
    'geolocation',
    'gyroscope',
    'hid',
    'identity-credentials-get',
  ],
  ...['idle-detection', 'local-fonts', 'magnetometer', 'microphone', 'midi', 'payment'],
  ...['publickey-credentials-create', 'publickey-credentials-get', 'screen-wake-lock', 'serial'],
  ...['storage-access', 'usb', 'window-management', 'xr-spatial-tracking'],
]
  .map((name) => `${name}=()`)
  .join(', ')

/** What holds for every response of this origin, refusals included. */
const COMMON = {
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
  'permissions-policy': PERMISSIONS,
}

/**
 * Shuts WebRTC and everything else that no directive of a content security policy names, in browsers that know the header: the
 * document reaches only the origin that it came from.
 */
const ALLOWLIST = { 'connection-allowlist': '(response-origin)' }

/** Of refusals and of what is no part of an app: nothing runs, and nobody frames it. */
export const REFUSAL_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  ...ALLOWLIST,
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
}

/** Libraries of ours, the same for everybody: modules are loaded with CORS, and documents of apps have no origin. */
export const LIBRARY_HEADERS: Readonly<Record<string, string>> = {
  ...REFUSAL_HEADERS,
  'access-control-allow-origin': '*',
  'cache-control': 'public, max-age=86400',
}

/**
 * Of the files of an app. The sandbox gives the document an origin of its own that equals no other, without storage, cookies,
 * windows, downloads and dialogs; the policy leaves it only the files of this app.
 * @param network whether a person has allowed this app to use the network.
 */
export function appHeaders({
  appsOrigin,
  pageOrigin,
  network,
}: {
  appsOrigin: string
  pageOrigin: string
  network: boolean
}): Readonly<Record<string, string>> {
  const outside = network ? ' https:' : ''
  const policy = [
    'sandbox allow-scripts allow-forms allow-pointer-lock',
    "default-src 'none'",
    `script-src 'unsafe-inline' 'unsafe-eval' ${appsOrigin}`,
    `style-src 'unsafe-inline' ${appsOrigin}`,
    `img-src data: blob: ${appsOrigin}${outside}`,
    `font-src data: ${appsOrigin}${outside}`,
    `media-src data: blob: ${appsOrigin}${outside}`,
    `connect-src ${network ? 'https:' : "'none'"}`,
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${pageOrigin}`,
  ]
  return {
    ...COMMON,
    ...(network ? {} : ALLOWLIST),
    // Modules and fonts are loaded with CORS, and the document has no origin. The token in the address is the secret.
    'access-control-allow-origin': '*',
    'content-security-policy': policy.join('; '),
  }
}

/**
 * Of the document that holds the app of an MCP server, which the app's own document inherits. Frames and the base of addresses
 * are never given, whatever an app asks for.
 * @param csp what of its requests a person has allowed.
 */
export function proxyHeaders({
  pages,
  csp: { connectDomains = [], resourceDomains = [] },
}: {
  pages: readonly string[]
  csp: McpAppCsp
}): Readonly<Record<string, string>> {
  // WebRTC stays shut whatever is allowed. Sockets may be compared by either scheme; the policy below is strict about it.
  const reached = new Set(
    [...connectDomains, ...resourceDomains].flatMap((one) => [
      one.replace(/^wss:/i, 'https:'),
      one.replace(/^https:/i, 'wss:'),
    ]),
  )
  const allowlist = ['response-origin', ...[...reached].map((one) => JSON.stringify(one))].join(' ')
  const resources = ["'self'", ...resourceDomains].join(' ')
  const policy = [
    "default-src 'none'",
    `script-src 'unsafe-inline' ${resources}`,
    `style-src 'unsafe-inline' ${resources}`,
    `img-src data: ${resources}`,
    `font-src data: ${resources}`,
    `media-src data: ${resources}`,
    `connect-src ${connectDomains.join(' ') || "'none'"}`,
    "frame-src 'none'",
    "object-src 'none'",
    "worker-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${pages.join(' ') || "'none'"}`,
  ]
  return {
    ...COMMON,
    'connection-allowlist': `(${allowlist})`,
    'content-security-policy': policy.join('; '),
  }
}
