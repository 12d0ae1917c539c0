// Mail from an IMAP mailbox: what is new is read without marking it as read, and what is stored is not read again.
import type { ImapFlow, MailboxObject } from 'imapflow'
import type { GuardedConnections } from '../../../net/guarded-fetch.ts'
import { storedFailure } from '../../../protocol/failures/stored.ts'
import { mailFailure } from '../../mailer.ts'
import { type Arrival, type Inbox, ReceivingEnded, SKIP_UNREAD } from '../../messenger.ts'
import { arrivalOfMail, parseMail, type RawMail } from './arrival.ts'

/** A file of 20 MB, encoded, with its text. */
const MAX_SOURCE_BYTES = 29 * 1024 * 1024
/** What a response has besides a mail. */
const MAX_ENVELOPE_BYTES = 1024 * 1024
const TIMEOUT_MS = 20_000
/** How often a mailbox without notices is looked at. */
const LOOK_MS = 60_000
const IDLE_AFTER_MS = 200
const DAY_MS = 24 * 3_600_000

/** How a mailbox is reached. */
interface ImapSettings {
  host: string
  port: number
  user: string
  password: string
  folder: string
  tls: 'implicit' | 'starttls' | 'none'
}

/** What receiving mail needs. */
interface MailboxDependencies {
  connections: Pick<GuardedConnections, 'addressOf'>
  /** Addresses from which this server sends. */
  own: readonly string[]
  isReceivingHost(name: string): boolean
  now(): Date
}

/** Receives until the signal aborts. @throws ReceivingEnded */
export async function receiveMail(
  settings: ImapSettings,
  inbox: Inbox,
  dependencies: MailboxDependencies,
  signal: AbortSignal,
): Promise<void> {
  try {
    await inMailbox(settings, dependencies, signal, async (client, box) => {
      const validity = String(box.uidValidity)
      // Mails that come while others are being read are not missed.
      let news = 0
      let ring = (): void => undefined
      client.on('exists', () => {
        news += 1
        ring()
      })
      const ended = new Promise<never>((_, reject) => {
        client.on('error', reject)
        client.on('close', () => reject(new Error('closed')))
      })
      ended.catch(() => undefined)
      let last = await firstUid(box, inbox)
      await inbox.connected()
      while (!signal.aborted) {
        const seen = news
        for (const uid of await newUids(client, last, dependencies)) {
          const arrival = await Promise.race([
            readMail(client, uid, validity, inbox, dependencies),
            ended,
          ])
          await inbox.take(arrival === null ? [] : [arrival], `${validity}:${uid}`)
          if (signal.aborted) return
          last = uid
        }
        if (inbox.place === null) await inbox.take([], `${validity}:${last}`)
        await inbox.connected()
        if (news === seen)
          await Promise.race([
            new Promise<void>((resolve) => {
              ring = resolve
            }),
            ended,
          ])
      }
    })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Signs in and opens the folder, without reading anything. @throws ReceivingEnded why that is not possible. */
export const checkMailbox = (
  settings: ImapSettings,
  dependencies: Pick<MailboxDependencies, 'connections'>,
  signal: AbortSignal,
): Promise<void> => inMailbox(settings, dependencies, signal, async () => {})

/** Opens the folder, and closes the connection after the work or when the signal aborts. @throws ReceivingEnded */
async function inMailbox(
  settings: ImapSettings,
  dependencies: Pick<MailboxDependencies, 'connections'>,
  signal: AbortSignal,
  work: (client: ImapFlow, box: MailboxObject) => Promise<void>,
): Promise<void> {
  const client = await connect(settings, dependencies)
  const abort = (): void => client.close()
  signal.addEventListener('abort', abort)
  try {
    signal.throwIfAborted()
    await client.connect()
    await work(client, await client.mailboxOpen(settings.folder, { readOnly: true }))
  } catch (error) {
    throw error instanceof ReceivingEnded ? error : new ReceivingEnded(...faultOf(error))
  } finally {
    signal.removeEventListener('abort', abort)
    client.close()
  }
}

async function connect(
  { host, port, user, password, tls }: ImapSettings,
  { connections }: Pick<MailboxDependencies, 'connections'>,
): Promise<ImapFlow> {
  let address: string
  try {
    address = await connections.addressOf(host)
  } catch (error) {
    const isUnknown =
      error instanceof Error && /ENOTFOUND|EAI_AGAIN|could not be found/.test(error.message)
    throw isUnknown
      ? new ReceivingEnded('connecting', storedFailure('delivery_mail_host_unknown'))
      : new ReceivingEnded('error', storedFailure('delivery_receiver_address_refused'))
  }
  const { ImapFlow: Client } = await import('imapflow')
  const client = new Client({
    // The address that was checked, not one that a second look-up might give.
    host: address,
    servername: host,
    port,
    secure: tls === 'implicit',
    doSTARTTLS: tls === 'starttls',
    auth: { user, pass: password },
    logger: false,
    disableCompression: true,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    autoIdleDelay: IDLE_AFTER_MS,
    maxIdleTime: LOOK_MS,
    // What a server sends although less was asked for ends the connection.
    maxLiteralSize: MAX_SOURCE_BYTES + MAX_ENVELOPE_BYTES,
    maxResponseSize: MAX_SOURCE_BYTES + 4 * MAX_ENVELOPE_BYTES,
  })
  // Commands reject by themselves; an error between them would end the process if nobody listened.
  client.on('error', () => undefined)
  return client
}

/** Up to where the mailbox was read before; 0 for all of it, as far as it is new. */
async function firstUid(
  box: { uidValidity: bigint; uidNext: number },
  inbox: Inbox,
): Promise<number> {
  const validity = String(box.uidValidity)
  if (inbox.place === SKIP_UNREAD) {
    const last = box.uidNext - 1
    await inbox.take([], `${validity}:${last}`)
    return last
  }
  const [known, uid] = inbox.place?.split(':') ?? []
  // A mailbox that was made anew counts anew; what is known by its id is not accepted twice.
  return known === validity ? Number(uid) : 0
}

/** The mails after `last`, oldest first; of a mailbox that was never read, those of the last day. */
async function newUids(
  client: ImapFlow,
  last: number,
  { now }: MailboxDependencies,
): Promise<number[]> {
  const query =
    last === 0 ? { since: new Date(now().getTime() - DAY_MS) } : { uid: `${last + 1}:*` }
  const found = await client.search(query, { uid: true })
  if (found === false || found === undefined) return []
  // `*` is the last one, also if that is known.
  return found.filter((uid) => uid > last).toSorted((a, b) => a - b)
}

/** One mail; null if it is gone, cannot be read, or is not for anybody here. */
async function readMail(
  client: ImapFlow,
  uid: number,
  validity: string,
  { address, unreadable }: Inbox,
  { own, isReceivingHost }: MailboxDependencies,
): Promise<Arrival | null> {
  if (address === null) return null
  const found = await client.fetchOne(
    String(uid),
    { source: { maxLength: MAX_SOURCE_BYTES }, size: true },
    { uid: true },
  )
  if (found === false || found.source === undefined) return null
  const raw: RawMail = {
    source: found.source,
    id: `uid:${validity}:${uid}`,
    isCut: (found.size ?? 0) > MAX_SOURCE_BYTES,
  }
  try {
    return arrivalOfMail(await parseMail(raw), raw, {
      address,
      own: [...own, address.toLowerCase()],
      isReceivingHost,
    })
  } catch {
    // One mail that cannot be read must not hold up all others for ever.
    unreadable(1)
    return null
  }
}

/** Why a mailbox could not be read, and whether that passes by itself. */
function faultOf(error: unknown): ConstructorParameters<typeof ReceivingEnded> {
  if (
    error instanceof Error &&
    'authenticationFailed' in error &&
    error.authenticationFailed === true
  )
    return ['error', storedFailure('channel_mailbox_refused')]
  if (error instanceof Error && 'mailboxMissing' in error && error.mailboxMissing === true)
    return ['error', storedFailure('channel_mailbox_folder_unknown')]
  return ['connecting', mailFailure(error)]
}
