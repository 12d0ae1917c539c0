// Whether strangers on the internet can create accounts, and with them use models that cost money.
import ipaddr from 'ipaddr.js'
import { inspectServerSettings } from '../access/server-settings.ts'
import type { Config } from '../config/schema.ts'
import { inspectSetting } from '../db/inspect.ts'
import { databaseSettings } from './settings.ts'

type Registration = Config['registration']

/** Names that no public name server knows. */
const LOCAL_NAME =
  /(^|\.)(localhost|localdomain|local|lan|internal|intranet|home|corp|test|home\.arpa)$/i

/** The host of `public_url` if everybody on the internet may register there; otherwise null. */
export function openToInternet(config: Config, registration: Registration): string | null {
  const { auth_mode, oidc, public_url } = config
  const takesPasswords = oidc === undefined || oidc.password_login
  if (auth_mode !== 'multi' || registration !== 'open' || !takesPasswords) return null
  if (public_url === undefined) return null
  const { host, hostname } = new URL(public_url)
  return isPublicName(hostname.replace(/^\[|\]$/g, '')) ? host : null
}

function isPublicName(name: string): boolean {
  if (ipaddr.isValid(name)) return ipaddr.process(name).range() === 'unicast'
  return name.includes('.') && !LOCAL_NAME.test(name)
}

/** The same for the stored settings of a database, which are read without changing anything. */
export async function inspectOpenRegistration(config: Config): Promise<string | null> {
  if (openToInternet(config, 'open') === null) return null
  const stored = await inspectServerSettings((key) => inspectSetting(databaseSettings(config), key))
  return openToInternet(config, stored?.registration ?? config.registration)
}

/** What the log says about it. */
export const OPEN_REGISTRATION =
  'Everybody who can reach this server can create an account and use its models. Set registration: invite (or closed) in config.yml, or under Administration → Server, unless this is what you want.'
