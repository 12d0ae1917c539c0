// Whether strangers on the internet can create accounts, and with them use models that cost money.
import ipaddr from 'ipaddr.js'
import type { DatabaseSettings } from '../db/database.ts'
import { inspectSetting } from '../db/inspect.ts'
import type { ServerSettings } from '../protocol/admin/server.ts'
import { inspectServerSettings } from './server-settings.ts'

type Registration = ServerSettings['effective']['registration']

/** What decides who could register, besides the setting itself. */
export interface RegistrationReach {
  /** Whether the server has accounts. */
  hasAccounts: boolean
  /** Whether accounts can have passwords. */
  takesPasswords: boolean
  publicUrl: string | undefined
}

/** Names that no public name server knows. */
const LOCAL_NAME =
  /(^|\.)(localhost|localdomain|local|lan|internal|intranet|home|corp|test|home\.arpa)$/i

/** The host of the public address if everybody on the internet may register there; otherwise null. */
export function openToInternet(
  { hasAccounts, takesPasswords, publicUrl }: RegistrationReach,
  registration: Registration,
): string | null {
  if (!hasAccounts || registration !== 'open' || !takesPasswords) return null
  if (publicUrl === undefined) return null
  const { host, hostname } = new URL(publicUrl)
  return isPublicName(hostname.replace(/^\[|\]$/g, '')) ? host : null
}

function isPublicName(name: string): boolean {
  if (ipaddr.isValid(name)) return ipaddr.process(name).range() === 'unicast'
  return name.includes('.') && !LOCAL_NAME.test(name)
}

/**
 * The same for the stored settings of a database, which are read without changing anything.
 * @param configured applies if nothing is stored.
 */
export async function inspectOpenRegistration(
  reach: RegistrationReach,
  configured: Registration,
  database: DatabaseSettings,
): Promise<string | null> {
  if (openToInternet(reach, 'open') === null) return null
  const stored = await inspectServerSettings((key) => inspectSetting(database, key))
  return openToInternet(reach, stored?.registration ?? configured)
}

/** Warns the operator if everybody on the internet may register. */
export function warnOfOpenRegistration(
  reach: RegistrationReach,
  registration: Registration,
  log: { warn(details: object, message: string): void },
): void {
  const host = openToInternet(reach, registration)
  if (host !== null) log.warn({ host }, OPEN_REGISTRATION)
}

const OPEN_REGISTRATION =
  'Everybody who can reach this server can create an account and use its models. Set registration: invite (or closed) in config.yml, or under Administration → Server, unless this is what you want.'
