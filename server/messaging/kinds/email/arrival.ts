// A received email in the words of every messenger, and the mails that nobody is meant to answer.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Attachment, ParsedMail } from 'mailparser'
import type { Arrival } from '../../messenger.ts'
import { ownText, textOfHtml } from './text.ts'

const MAX_FILE_BYTES = 20 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const MAX_SUBJECT_CHARACTERS = 200
/** More than a message may have. */
const MAX_TEXT_CHARACTERS = 200_000
const MAX_ID_CHARACTERS = 200
/** Our own messages name the thread that they belong to. */
const OWN_ID = /^<[\w-]+\.([0-9a-f]{24})@nanoclaw>$/

/** The thread that a message begins. */
const threadOf = (messageId: string): string =>
  createHash('sha256').update(messageId).digest('hex').slice(0, 24)

/** A mail as it lies in the mailbox. */
export interface RawMail {
  source: Buffer
  /** Identifies it in the mailbox, for mails without an id of their own. */
  id: string
  /** Whether its end is missing, because it is too large. */
  isCut: boolean
}

/** Reads a mail in pieces, so that a large one does not hold up the server. */
export async function parseMail({ source }: RawMail): Promise<ParsedMail> {
  const { simpleParser } = await import('mailparser')
  const pieces = function* () {
    for (let at = 0; at < source.length; at += CHUNK_BYTES)
      yield source.subarray(at, at + CHUNK_BYTES)
  }
  return await simpleParser(Readable.from(pieces(), { objectMode: false }), {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
    keepCidLinks: true,
  })
}

/**
 * What a person wrote to this address; null for mails to others, and for those that no person wrote or that came from this server.
 * @param own addresses from which this server sends.
 */
export function arrivalOfMail(
  mail: ParsedMail,
  raw: RawMail,
  {
    address,
    own,
    isReceivingHost,
  }: {
    address: string
    own: readonly string[]
    /** Whether a name in `Authentication-Results` is that of the host that received the mail for us. */
    isReceivingHost(name: string): boolean
  },
): Arrival | null {
  const sender = senderOf(mail)
  if (sender === null || own.includes(sender.id) || isAutomatic(mail)) return null
  if (!isAddressedTo(mail, address)) return null
  const verdict = verdictOf(mail, sender.id, isReceivingHost)
  if (verdict === 'failed') return null
  const messageId = mail.messageId ?? ''
  const id =
    messageId === '' || messageId.length > MAX_ID_CHARACTERS ? shortId(messageId, raw) : messageId
  const ancestors = [...[mail.references ?? []].flat(), mail.inReplyTo ?? ''].filter(
    (one) => one !== '',
  )
  const ours = ancestors.map((one) => OWN_ID.exec(one)?.[1]).find((one) => one !== undefined)
  // Of a mail that is a page and nothing else, the text is there, but empty.
  const plain = mail.text ?? ''
  const said = plain.trim() === '' && typeof mail.html === 'string' ? textOfHtml(mail.html) : plain
  // A mail may have megabytes, of which a message takes only the beginning.
  const written = said.slice(0, MAX_TEXT_CHARACTERS)
  const subject = (mail.subject ?? '')
    .replace(/^((re|aw|sv|回复|答复|答覆)\s?[:：]\s*)+/i, '')
    .trim()
  const text = ancestors.length === 0 ? written.trim() : ownText(written)
  return {
    id,
    chat: { id: sender.id, name: subject.slice(0, MAX_SUBJECT_CHARACTERS), isPrivate: true },
    threadId: ours ?? threadOf(ancestors[0] ?? id),
    sender,
    // What a thread is about is said only once.
    text: ancestors.length === 0 && subject !== '' ? `${subject}\n\n${text}`.trim() : text,
    isAddressed: true,
    // Whoever sends mail can pretend to be anybody.
    isOutside: true,
    quoted: '',
    files: filesOf(mail.attachments, raw),
    decision: null,
    mayAnswerStranger: verdict === 'passed',
  }
}

const shortId = (messageId: string, { id }: RawMail): string =>
  messageId === '' ? id : `<${threadOf(messageId)}>`

/** The one person who sent it. */
function senderOf({ from, headerLines }: ParsedMail): Arrival['sender'] | null {
  if (headerLines.filter(({ key }) => key === 'from').length !== 1) return null
  const [one, ...others] = from?.value ?? []
  if (one === undefined || others.length > 0 || one.address === undefined) return null
  const id = one.address.toLowerCase()
  if (!/^[^\s@<>]{1,100}@[^\s@<>]{1,150}$/.test(id)) return null
  return { id, name: one.name === '' ? id : one.name }
}

/** The values of a header as they stand in the mail, the topmost first. */
const linesOf = ({ headerLines }: ParsedMail, name: string): string[] =>
  headerLines
    .filter(({ key }) => key === name)
    .map(({ line }) =>
      line
        .slice(line.indexOf(':') + 1)
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )

/** Whether a program sent it: an answer to it could go round in circles. */
function isAutomatic(mail: ParsedMail): boolean {
  const of = (name: string): string[] => linesOf(mail, name)
  if (of('auto-submitted').some((value) => !/^no\b/i.test(value))) return true
  if (mail.headerLines.some(({ key }) => /^list-/.test(key))) return true
  if (of('precedence').some((value) => /^(bulk|list|junk|auto_reply)/i.test(value))) return true
  if (of('return-path').some((value) => value === '<>')) return true
  if (mail.headerLines.some(({ key }) => ['x-autoreply', 'x-autorespond'].includes(key)))
    return true
  return of('content-type').some((value) => /^multipart\/report/i.test(value))
}

/** Whether it was sent to exactly this address, which includes the channel's token. */
function isAddressedTo(mail: ParsedMail, address: string): boolean {
  const to = [mail.to ?? [], mail.cc ?? [], mail.bcc ?? []]
    .flat()
    .flatMap(({ value }) => value)
    .flatMap((one) => [one, ...(one.group ?? [])])
    .map((one) => one.address?.toLowerCase())
  const delivered = ['delivered-to', 'x-original-to', 'envelope-to', 'x-delivered-to'].flatMap(
    (name) => linesOf(mail, name).map((value) => value.replace(/^<|>$/g, '').toLowerCase()),
  )
  return [...to, ...delivered].includes(address.toLowerCase())
}

/** The first labels of hosts whose domain is that of the whole mail service. */
const SERVICE_LABEL = /^(imap|imaps|mail|mailbox|mx|pop|pop3|smtp)\d*\./

/** Mail services whose receiving hosts have another domain than their mailboxes, by the host of the mailbox. */
const RECEIVING_DOMAINS: Readonly<Record<string, string>> = {
  'imap.gmail.com': 'mx.google.com',
  'imap.fastmail.com': 'messagingengine.com',
}

/**
 * Returns whether a host in `Authentication-Results` received the mail for us: anybody can write that header, so only the name
 * that the settings say counts; without one, those of the mailbox's own server and of the domain of its address.
 */
export function receivingHosts({
  configured,
  imapHost,
  address,
}: {
  configured: string | undefined
  imapHost: string
  address: string
}): (name: string) => boolean {
  if (configured !== undefined) return (name) => name === configured.toLowerCase()
  const host = imapHost.toLowerCase()
  const domains = [
    host,
    host.replace(SERVICE_LABEL, ''),
    address.slice(address.lastIndexOf('@') + 1).toLowerCase(),
    RECEIVING_DOMAINS[host] ?? '',
  ]
    // An address or a name without a domain has no others below it.
    .filter((domain) => domain.includes('.') && !/^[\d.:]+$/.test(domain))
  return (name) => domains.some((domain) => name === domain || name.endsWith(`.${domain}`))
}

/** The name of the host that wrote an `Authentication-Results`; an empty one if it does not say. */
const writerOf = (line: string): string =>
  /^\s*([\w.-]+)(\s+\d+)?\s*;/.exec(withoutComments(line))?.[1]?.toLowerCase() ?? ''

/** Anything may stand in comments. */
const withoutComments = (line: string): string => line.replaceAll(/\([^()]*\)/g, '')

/**
 * What the host that received it says of its sender, in its topmost header about that: `passed` for the domain of the sender,
 * `failed` if it was forged, or passed only for another domain; else nothing is known.
 */
function verdictOf(
  mail: ParsedMail,
  sender: string,
  isReceivingHost: (name: string) => boolean,
): 'passed' | 'failed' | 'unknown' {
  const line = linesOf(mail, 'authentication-results').find((one) => isReceivingHost(writerOf(one)))
  if (line === undefined) return 'unknown'
  const domain = sender.slice(sender.lastIndexOf('@') + 1)
  const results = withoutComments(line)
    .split(';')
    .slice(1)
    .flatMap((part) => {
      const found = /^\s*(spf|dkim|dmarc)\s*=\s*(\w+)/i.exec(part)
      if (found === null) return []
      const of = /(?:header\.(?:d|i|from)|smtp\.(?:mailfrom|mail))\s*=\s*"?([^\s";]+)/i.exec(
        part,
      )?.[1]
      const about = of?.slice(of.lastIndexOf('@') + 1).toLowerCase()
      return [{ method: found[1]?.toLowerCase(), result: found[2]?.toLowerCase(), about }]
    })
  const isAbout = ({ method, about }: (typeof results)[number]): boolean =>
    about === undefined
      ? method === 'dmarc'
      : about === domain || domain.endsWith(`.${about}`) || about.endsWith(`.${domain}`)
  const isForged = results.some(({ method, result }) => method === 'dmarc' && result === 'fail')
  if (isForged) return 'failed'
  if (results.some((one) => one.result === 'pass' && isAbout(one))) return 'passed'
  const isBad = results.some(({ result = '' }) =>
    ['pass', 'fail', 'softfail', 'permerror'].includes(result),
  )
  return isBad ? 'failed' : 'unknown'
}

const filesOf = (attachments: readonly Attachment[], { isCut }: RawMail): Arrival['files'] =>
  attachments.map(({ filename, content, contentType }, at) => ({
    name: filename ?? `file-${at + 1}.${contentType.split('/')[1] ?? 'bin'}`,
    // The last one of a mail without its end is not whole.
    read: async () =>
      content.length > MAX_FILE_BYTES || (isCut && at === attachments.length - 1) ? null : content,
  }))
