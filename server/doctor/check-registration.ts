// Checks whether strangers on the internet can create accounts.
import type { Finding } from './finding.ts'

/** Returns a finding only if they can. `inspect` reads the host on which everybody can register; null if nobody can. */
export async function checkRegistration(inspect: () => Promise<string | null>): Promise<Finding[]> {
  let host: string | null
  try {
    host = await inspect()
  } catch {
    return [] // the finding of the database says why
  }
  if (host === null) return []
  return [
    {
      state: 'warn',
      code: 'registration_open',
      params: { host },
      subject: 'registration',
      detail: `everybody who can reach ${host} can create an account and use the models`,
      advice:
        'Set registration: invite (or closed) in config.yml, or under Administration → Server, unless this is what you want.',
    },
  ]
}
