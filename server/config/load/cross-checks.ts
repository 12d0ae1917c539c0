// Rules between keys: combinations that are unsafe or make no sense.
import { basePathOf, isPossibleBase } from '../../lib/base-path.ts'
import type { Config } from '../schema.ts'

const MIN_SECRET_LENGTH = 32
/** Secrets from examples and earlier versions; anybody who knows them can sign in as any user. */
const WELL_KNOWN_SECRET =
  /change[-_ ]?(me|this|it|in[-_ ]?production)|your[-_ ]?(jwt[-_ ]?)?secret|default[-_ ]?(jwt[-_ ]?)?secret/i

/** Whether a listen address is only reachable from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** One line per violated rule. */
export function crossFaults(config: Config): string[] {
  return [
    ...listenFaults(config),
    ...publicUrlFaults(config),
    ...appsFaults(config),
    ...secretFaults(config),
    ...oidcFaults(config),
    ...modelFaults(config),
    ...databaseFaults(config),
    ...searchFaults(config),
  ]
}

function listenFaults({ auth_mode, host, single_user_remote }: Config): string[] {
  if (auth_mode !== 'single' || isLoopback(host) || single_user_remote) return []
  return [
    `host: found ${JSON.stringify(host)} with auth_mode single, expected a loopback address: without sign-in, anyone who can reach the server is an administrator; set auth_mode: multi, or single_user_remote: true if something else controls access`,
  ]
}

function publicUrlFaults({ public_url }: Config): string[] {
  const path = basePathOf(public_url)
  if (isPossibleBase(path)) return []
  return [
    `public_url: found a URL with the path ${JSON.stringify(path)}, expected one of letters, digits, ".", "_", "~" and "-" that does not begin like a path of the server or of its page, such as /api or /c`,
  ]
}

/** Apps need an origin that is not the page's. */
function appsFaults({ apps, backend_port, frontend_port, public_url }: Config): string[] {
  const { port, url } = apps
  const isShared = port !== undefined && port > 0 && [backend_port, frontend_port].includes(port)
  const isPage = url !== undefined && public_url !== undefined && url === new URL(public_url).origin
  return [
    ...(isShared
      ? [`apps.port: found ${port}, expected another port than those of the page (or 0 for none)`]
      : []),
    ...(isPage
      ? [
          `apps.url: found the origin of public_url, expected another host or port, because apps must not share the page's origin`,
        ]
      : []),
  ]
}

function secretFaults({ auth_mode, jwt_secret }: Config): string[] {
  if (auth_mode !== 'multi') return []
  if (jwt_secret === undefined)
    return [
      `jwt_secret: found nothing, expected at least ${MIN_SECRET_LENGTH} random characters because auth_mode is multi (generate one with: openssl rand -hex 32)`,
    ]
  if (WELL_KNOWN_SECRET.test(jwt_secret))
    return [
      'jwt_secret: found a well-known example value, expected your own secret (generate one with: openssl rand -hex 32)',
    ]
  if (jwt_secret.length < MIN_SECRET_LENGTH)
    return [
      `jwt_secret: found a string of ${jwt_secret.length} characters, expected at least ${MIN_SECRET_LENGTH} (generate one with: openssl rand -hex 32)`,
    ]
  return []
}

function oidcFaults({ auth_mode, public_url, oidc }: Config): string[] {
  if (oidc === undefined) return []
  const faults: string[] = []
  if (auth_mode !== 'multi')
    faults.push('oidc: found with auth_mode single, expected auth_mode: multi')
  if (public_url === undefined)
    faults.push(
      'public_url: found nothing, expected the URL of this server as browsers see it, because oidc redirects them back to it',
    )
  const { protocol, hostname } = new URL(oidc.issuer)
  if (protocol === 'http:' && !isLoopback(hostname))
    faults.push(
      `oidc.issuer: found ${JSON.stringify(oidc.issuer)}, expected https, because anyone who can tamper with the issuer's responses can sign in as any user`,
    )
  if (!oidc.password_login && oidc.break_glass === undefined)
    faults.push(
      'oidc.break_glass: found nothing with password_login false, expected the user name of an administrator who can still sign in with a password when the issuer is unavailable',
    )
  return faults
}

function modelFaults({ models, default_model }: Config): string[] {
  const ids = models.map(({ id }) => id)
  const known = (id: string) => ids.includes(id)
  const doubles = ids.flatMap((id, index) =>
    ids.indexOf(id) === index
      ? []
      : [`models[${index}].id: found ${JSON.stringify(id)} a second time, expected unique ids`],
  )
  const fallbacks = models.flatMap(({ fallback = [] }, index) =>
    fallback
      .filter((id) => !known(id))
      .map(
        (id) =>
          `models[${index}].fallback: found ${JSON.stringify(id)}, expected ids of configured models`,
      ),
  )
  // Without models in the file, the default may be one stored in the database, or the demo.
  const unknownDefault =
    default_model !== undefined && ids.length > 0 && !known(default_model)
      ? [`default_model: found ${JSON.stringify(default_model)}, expected one of ${ids.join(', ')}`]
      : []
  return [...doubles, ...fallbacks, ...unknownDefault]
}

function databaseFaults({ db_type, database_url, redis_url }: Config): string[] {
  const faults: string[] = []
  if (database_url !== undefined && db_type === 'sqlite')
    faults.push('database_url: found one with db_type sqlite, expected db_type: postgresql')
  if (redis_url !== undefined && db_type === 'sqlite')
    faults.push(
      'redis_url: found one with db_type sqlite, expected db_type: postgresql (several instances cannot share one SQLite file)',
    )
  return faults
}

function searchFaults({ web_search, weather }: Config): string[] {
  const providers = web_search.providers.length > 0 ? web_search.providers : [web_search.provider]
  const faults: string[] = []
  if (providers.includes('brave') && web_search.api_key === undefined)
    faults.push('web_search.api_key: found nothing, expected the key of the provider brave')
  if (providers.includes('searxng') && web_search.url === undefined)
    faults.push('web_search.url: found nothing, expected the URL of the SearXNG server')
  if (weather.provider === 'openweathermap' && weather.api_key === undefined)
    faults.push('weather.api_key: found nothing, expected the key of the provider openweathermap')
  return faults
}
