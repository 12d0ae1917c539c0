// Checks that the public address leads to this server, and that the proxy before it passes on whose request it is.
import type { DatabaseSettings } from '../../db/database.ts'
import { inspectSetting } from '../../db/inspect.ts'
import { errorText } from '../../errors.ts'
import { createProbe, PROBE_HEADER, SEEN_HEADER, type SeenRequest } from '../../lib/reach-probe.ts'
import { INSTALLATION_KEY, InstallationId } from '../../owner/installation.ts'
import { type Finding, fine } from '../finding.ts'

const TIMEOUT_MS = 5_000
const SUBJECT = 'public address'

/** Returns no findings without `public_url`, and before the first start, which creates the id that the check needs. */
export async function checkPublicAddress(
  publicUrl: string | null,
  database: DatabaseSettings,
): Promise<Finding[]> {
  if (publicUrl === null) return []
  const stored = await inspectSetting(database, INSTALLATION_KEY).catch(() => undefined)
  const id = InstallationId.safeParse(stored).data?.id
  if (id === undefined) return []
  const probe = createProbe(id)
  const params = { url: publicUrl }
  let response: Response
  try {
    response = await fetch(`${publicUrl.replace(/\/+$/, '')}/healthz`, {
      headers: { [PROBE_HEADER]: probe.header },
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.arrayBuffer()
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const reason = errorText(cause)
    return [
      {
        state: 'warn',
        code: 'public_unreachable',
        params: { ...params, reason },
        subject: SUBJECT,
        detail: `${publicUrl} does not answer this machine (${reason})`,
        advice:
          'If the server runs and browsers cannot open the address either, check its name (DNS), its certificate, the firewall and the proxy. Some networks answer only from outside: then this is no fault.',
      },
    ]
  }
  const seen = probe.read(response.headers.get(SEEN_HEADER))
  if (seen === null)
    return [
      {
        state: 'fail',
        code: 'public_elsewhere',
        params: { ...params, status: response.status },
        subject: SUBJECT,
        detail: `${publicUrl} answers (${response.status}), but not as this server`,
        advice:
          'Set public_url to the address that browsers use, and let the proxy pass all paths and headers to this server. A server of an earlier version must be restarted first.',
      },
    ]
  const faults = proxyFaults(publicUrl, seen)
  return faults.length > 0
    ? faults
    : [
        fine(
          'public_ok',
          SUBJECT,
          `${publicUrl} leads to this server, which sees the address of each client`,
          params,
        ),
      ]
}

/** What a proxy keeps from the server. */
export function proxyFaults(publicUrl: string, seen: SeenRequest): Finding[] {
  const { host, protocol } = new URL(publicUrl)
  const findings: Finding[] = []
  // Only a proxy can speak https for the server, which speaks http.
  if (!seen.isForwarded && protocol === 'https:')
    findings.push({
      state: 'warn',
      code: 'proxy_without_addresses',
      params: { peer: seen.peer },
      subject: 'proxy',
      detail: `the proxy at ${seen.peer} does not say whose request it passes on: all clients count as one, so that limits of one hold for all`,
      advice:
        'Let it send X-Forwarded-For; nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    })
  if (seen.isForwarded && seen.address === seen.peer)
    findings.push({
      state: 'warn',
      code: 'proxy_not_trusted',
      params: { peer: seen.peer },
      subject: 'proxy',
      detail: `${seen.peer} passes requests on, but its X-Forwarded-For is not believed: all clients count as one, so that limits of one hold for all`,
      advice: `Add the proxy to config.yml: trusted_proxies: [${seen.peer}]`,
    })
  if (seen.host.toLowerCase() !== host)
    findings.push({
      state: 'warn',
      code: 'proxy_other_host',
      params: { host: seen.host, expected: host },
      subject: 'proxy',
      detail: `the proxy asks for ${seen.host} instead of ${host}, so that the server cannot tell its own page from others by their address`,
      advice: 'Let it keep the Host header; nginx: proxy_set_header Host $http_host;',
    })
  return findings
}
